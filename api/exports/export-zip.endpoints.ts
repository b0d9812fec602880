import type { RouterContext } from '@koa/router';
import { sendFile } from '../media/send-file.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { archiveOrAccepted } from './respond-with-archive.ts';
import { authorizeExport } from './authorize.ts';

/** A published version as one ZIP (the contract's 4.5). */
export function sendExportZip(deps: AppDependencies): (ctx: RouterContext<RequestState>) => Promise<void> {
  return async (ctx) => {
    const { version, job } = await authorizeExport(deps, ctx);
    const archive = await archiveOrAccepted(ctx, deps, job);
    if (archive === null) return;
    await sendFile(ctx, archive, archive.sha256, () => {
      ctx.attachment(`${version.slug}-v${version.versionNumber}.zip`);
      if (ctx.status !== 304) ctx.type = 'application/zip';
    });
  };
}
