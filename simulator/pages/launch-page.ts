import { markup } from '../../shared/platform/html.ts';
import { hiddenFields } from './forms.ts';
import { loginRequest, storageFrame } from '../launches.ts';
import type { Launch } from '../model.ts';
import type { Platform } from '../platform.ts';
import { page } from './layout.ts';

const storage = markup`<iframe name="${storageFrame}" src="/storage" title="Storage" data-storage hidden></iframe>`;

/** Renders a frame for the tool, and the login request: a form that a script or a button submits. */
export function launchPage(platform: Platform, launch: Launch): string {
  const { method, action, fields } = loginRequest(platform, launch);
  const title = launch.link?.title ?? `Content of ${launch.tool.name}`;
  const main = markup`<p class="soft">${launch.user.name} in ${launch.course.title}</p>
${launch.storageTarget === storageFrame ? storage : markup``}
<form method="${method}" action="${action}" target="tool">
${hiddenFields(fields)}<noscript><p><button>Open the tool</button></p></noscript>
</form>
<iframe class="tool" name="tool" title="${title}" allow="fullscreen"></iframe>
`;
  return page({
    title,
    main,
    scripts: ['/assets/launch.js'],
    storageFrame: launch.storageTarget === null ? null : storageFrame,
  });
}

export function storagePage(): string {
  const main = markup`<p>This frame stores data for tools.</p>`;
  return page({ title: 'Storage', main, scripts: ['/assets/ready.js'], framed: true, storageFrame });
}
