import { render } from 'preact';
import './styles/console.css';
import { App } from './shell/app.tsx';
import { showScheme } from './shell/preferences.ts';
import { startRouter } from './shell/router.tsx';
import { startSession } from './shell/log-in.tsx';
import { startLanguage } from './shell/text.ts';

showScheme();
startRouter();
const root = document.getElementById('console');
// Both take a request: the page appears once, complete.
const [loggedIn] = await Promise.all([startSession(), startLanguage()]);
if (root !== null) render(<App startError={loggedIn} />, root);
