import { createHash } from 'node:crypto';
import { Html, markup } from '../../shared/platform/html.ts';
import { hiddenFields } from './forms.ts';

const script = 'document.forms[0].submit();';
const scriptHash = createHash('sha256').update(script).digest('base64');

/** Of the only script that a page of {@link postPage} may run. */
export const postPagePolicy = `default-src 'none'; script-src 'sha256-${scriptHash}'`;

/** A page that posts fields to an address by itself: `response_mode=form_post`. Without JavaScript, by a button. */
export function postPage(action: string, fields: Readonly<Record<string, string>>): string {
  return markup`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Opening the tool</title></head>
<body>
<form method="post" action="${action}">
${hiddenFields(fields)}<noscript><button>Open the tool</button></noscript>
</form>
<script>${new Html(script)}</script>
</body>
</html>
`.source;
}
