import { beginCmi5 } from './cmi5-session.ts';
import { playPackage } from './package-page.ts';

/* The script of a cmi5 package's page. */

void playPackage(beginCmi5);
