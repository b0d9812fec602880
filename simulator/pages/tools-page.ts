import { markup } from '../../shared/platform/html.ts';
import type { Html } from '../../shared/platform/html.ts';
import type { Tool } from '../model.ts';
import type { Platform } from '../platform.ts';
import { allScopes } from '../vocabulary.ts';
import { page } from './layout.ts';

/** Lists the tools, with two forms to register more. @param toolUrl prefills the registration URL */
export function toolsPage(platform: Platform, toolUrl: string): string {
  const tools = [...platform.tools.values()].map((tool) => toolCard(platform, tool));
  const main = markup`${tools}${dynamicForm(toolUrl)}${byHandForm}${keyCard(platform)}`;
  return page({ title: 'Tools', main });
}

function toolCard({ settings, urls }: Platform, tool: Tool): Html {
  const scopes = tool.scopes.map((scope) => shortName(scope)).join(', ');
  return markup`<section class="card">
<h2>${tool.name}</h2>
<p class="soft">Enter these values in the tool:</p>
<dl>
${pair('Issuer', settings.issuer)}${pair('Client id', tool.clientId)}
${tool.deploymentIds.map((id) => pair('Deployment id', id))}
${pair('Authorization', urls.authorization)}${pair('Token', urls.token)}${pair('Keys', urls.jwks)}
</dl>
<details><summary>The tool’s own values</summary>
<dl>
${pair('Login', tool.loginUrl)}${tool.redirectUris.map((uri) => pair('Redirect', uri))}${pair('Keys', tool.jwksUrl)}
${pair('Target link', tool.targetLinkUri)}${pair('Deep linking', tool.deepLinkUrl ?? tool.targetLinkUri)}
${pair('Grade services', scopes || 'none')}
</dl>
</details>
</section>
`;
}

/** Such as "lineitem.readonly". */
function shortName(scope: string): string {
  return scope.slice(scope.lastIndexOf('/') + 1);
}

function pair(name: string, value: string): Html {
  return markup`<dt>${name}</dt><dd><code>${value}</code></dd>\n`;
}

function dynamicForm(toolUrl: string): Html {
  return markup`<section class="card">
<h2>Register a tool by its registration URL</h2>
<form method="post" action="/registrations">
<div class="fields">
<label>Registration URL <input name="url" type="url" required value="${toolUrl}"></label>
</div>
<button>Register</button>
</form>
</section>
`;
}

const scopeBoxes = allScopes.map(
  (scope) => markup`<label class="check">
<input type="checkbox" name="scope" value="${scope}" checked> ${shortName(scope)}</label>
`,
);

const byHandForm = markup`<section class="card">
<h2>Register a tool by hand</h2>
<form method="post" action="/tools">
<div class="fields">
<label>Name <input name="name" required></label>
<label>Login URL <input name="loginUrl" type="url" required></label>
<label>Key set URL <input name="jwksUrl" type="url" required></label>
<label>Target link <input name="targetLinkUri" type="url" required></label>
<label>Deep linking URL <input name="deepLinkUrl" type="url" placeholder="the target link"></label>
<label>Redirect urls, one a line <textarea name="redirectUris" rows="2" required></textarea></label>
<label>Custom parameters, one name=value per line <textarea name="custom" rows="2"></textarea></label>
<fieldset><legend>Grade services</legend>${scopeBoxes}</fieldset>
</div>
<button>Register</button>
</form>
</section>
`;

function keyCard({ keys }: Platform): Html {
  return markup`<section class="card">
<h2>The platform's keys</h2>
<ul>${keys.map(({ kid }) => markup`<li><code>${kid}</code></li>`)}</ul>
<form method="post" action="/keys"><button class="quiet">Sign with a new key</button></form>
</section>
`;
}

/** Renders a frame with the tool's own registration page. */
export function registrationPage(toolUrl: string): string {
  const main = markup`<p class="soft">The tool closes this page when it is registered. If the frame stays empty,
<a href="${toolUrl}" target="_blank" rel="opener">open it in a new tab</a>, then go to <a href="/tools">the tools</a>.</p>
<iframe class="tool" src="${toolUrl}" title="Registration of the tool"></iframe>
`;
  return page({ title: 'Registration', main, scripts: ['/assets/registration.js'] });
}
