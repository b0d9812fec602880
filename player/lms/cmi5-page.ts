import { parseUrl } from '../../shared/platform/parse-url.ts';
import { sourceOf } from '../archive-page/inline-files.ts';
import { readLaunch } from './cmi5-launch.ts';
import { beginCmi5 } from './cmi5-session.ts';
import { playPackage } from './package-page.ts';

/* The script of a cmi5 package's page. */

const { endpoint = '', fetchUrl = '' } = readLaunch(location.search) ?? {};
const servers = [endpoint, fetchUrl].map((url) => parseUrl(url)).filter((url) => url !== null);
// Platforms redirect to other servers of theirs. Only the player's own scripts may send there: frames of widgets may not.
void playPackage(beginCmi5, [...servers.map(sourceOf), 'https:']);
