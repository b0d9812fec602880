import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fontStacks, palettes, schemes } from '../../shared/theme/tokens.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { EncodedFile } from '../http/encoded-file.ts';
import escapeHtml from 'escape-html';

/** The page loads everything from this service. Scalar creates style sheets, and has icons and fonts as `data:` URLs. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Gives Scalar's variables the design tokens. It marks its color scheme by a class. */
function scalarCss(): string {
  const rules = schemes.map((scheme) => {
    const { page, surface, text, accent, line, ...palette } = palettes[scheme];
    const values = {
      'background-1': page,
      'background-2': surface,
      'background-3': line,
      'background-accent': palette['accent-soft'],
      'border-color': line,
      'color-1': text,
      'color-2': palette['text-muted'],
      'color-3': palette['text-muted'],
      'color-accent': accent,
      'button-1': accent,
      'button-1-color': palette['on-accent'],
      'button-1-hover': palette['accent-strong'],
    };
    const declared = Object.entries(values).map(([name, value]) => `--scalar-${name}:${value};`);
    return `.${scheme}-mode{${declared.join('')}}`;
  });
  const fonts = `--scalar-font:${fontStacks.text};--scalar-font-code:${fontStacks.mono};`;
  return [...rules, `:root{${fonts}}`].join('');
}

/** Turns off the parts of Scalar that contact its services. */
const configuration = {
  withDefaultFonts: false,
  telemetry: false,
  // Links to Scalar's hosted client.
  hideClientButton: true,
  // Share and deploy through Scalar's registry.
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  // Entered credentials are kept until the reader leaves the page.
  persistAuth: false,
  authentication: { preferredSecurityScheme: 'credentials' },
  showOperationId: true,
  customCss: scalarCss(),
};

/** Returns the page of the API reference. @param base the path prefix of the service: "/lectern", or ''. */
export function apiPage(base: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lectern API</title>
<link rel="icon" href="${escapeHtml(base)}/favicon.svg">
</head>
<body>
<script id="api-reference" type="application/json" data-url="${escapeHtml(base)}/openapi.json" data-configuration="${escapeHtml(JSON.stringify(configuration))}"></script>
<script src="${escapeHtml(base)}/docs/scalar.js"></script>
</body>
</html>
`;
}

/** Returns the page's script. @throws {Error} if player/build.ts has not copied it. */
export function readPageScript(): EncodedFile {
  return new EncodedFile(readFileSync(join(packageRoot, 'player', 'dist', 'api-reference', 'scalar.js')));
}
