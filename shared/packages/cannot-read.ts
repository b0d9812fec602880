import { codeOf, messageOf } from '../platform/errors.ts';
import { shownPath } from './entry-name.ts';
import { PackageError } from './package-error.ts';

/** Says in plain words why a file or folder cannot be read. */
export function cannotRead(path: string, error: unknown): never {
  const reasons: Record<string, string> = {
    ENOENT: 'there is no such file or folder',
    ENOTDIR: 'there is no such file or folder',
    EACCES: 'cannot be read: permission denied',
    EPERM: 'cannot be read: permission denied',
    ELOOP: 'cannot be read: its symbolic links form a loop',
  };
  const reason = reasons[String(codeOf(error))] ?? `cannot be read: ${messageOf(error)}`;
  throw new PackageError([`${shownPath(path)}: ${reason}`], { cause: error });
}
