import { linksOf } from '../courses.ts';
import { markup } from '../../shared/platform/html.ts';
import type { Html } from '../../shared/platform/html.ts';
import { lineItemsOf } from '../line-items.ts';
import type { Course, Link, Tool, User } from '../model.ts';
import type { Platform } from '../platform.ts';
import { learnerRole } from '../vocabulary.ts';
import { page } from './layout.ts';

const locales = ['en-GB', 'de', 'es', 'fr', 'it', 'nl', 'pt-BR', 'ar', 'he'];

const noTools = markup`<p class="card">No tool is registered yet: <a href="/tools">register one</a>.</p>\n`;

/** Lists the courses with their links, and the choice of the user who opens them. */
export function coursesPage(platform: Platform): string {
  const courses = [...platform.courses.values()].map((course) => courseCard(platform, course));
  const hint = platform.tools.size === 0 ? noTools : markup``;
  return page({ title: 'Courses', main: markup`${hint}${launchCard(platform)}${courses}` });
}

/** Renders the form that the courses' buttons submit. */
function launchCard({ users }: Platform): Html {
  const people = [...users.values()].map(
    (user) => markup`<option value="${user.id}">${roleOf(user)}</option>`,
  );
  const languages = locales.map((locale) => markup`<option>${locale}</option>`);
  return markup`<section class="card">
<h2>Who you are</h2>
<form id="launch" method="post" action="/launches" class="row">
<label>User <select name="user">${people}</select></label>
<label>Language <select name="locale">${languages}</select></label>
<label>Login by <select name="method"><option>POST</option><option>GET</option></select></label>
<label class="check"><input type="checkbox" name="storage" value="yes" checked> Offer platform storage</label>
</form>
</section>
`;
}

function roleOf({ name, anonymous, roles }: User): string {
  if (anonymous) return `${name}, hidden from tools`;
  return `${name}, ${roles.includes(learnerRole) ? 'learner' : 'teacher'}`;
}

function courseCard(platform: Platform, course: Course): Html {
  const tools = [...platform.tools.values()];
  return markup`<section class="card">
<div class="row between">
<h2>${course.title} <span class="soft small">${course.label}</span></h2>
<form method="post" action="/courses/${course.id}/copy"><button class="quiet">Copy the course</button></form>
</div>
${linkList(platform, course)}
${tools.map((tool) => chooseButton(course, tool))}
${tools.length === 0 ? markup`` : addLinkForm(course, tools)}
<details><summary>Ids</summary>
<dl><dt>Context</dt><dd><code>${course.id}</code></dd>
${course.history.map((id) => markup`<dt>Copied from</dt><dd><code>${id}</code></dd>`)}</dl>
</details>
</section>
`;
}

function linkList(platform: Platform, course: Course): Html {
  const links = linksOf(platform, course.id).map((link) => linkItem(platform, link));
  if (links.length === 0) return markup`<p class="soft">No links yet.</p>`;
  return markup`<ul class="plain links">${links}</ul>`;
}

function linkItem(platform: Platform, link: Link): Html {
  const points = lineItemsOf(platform, link).map(({ scoreMaximum }) => `${scoreMaximum} points`);
  const tool = platform.tools.get(link.clientId)?.name ?? '';
  const about = markup`<span class="unseen"> ${link.title}</span>`;
  return markup`<li>
<div><p><strong>${link.title}</strong></p><p class="soft small">${[tool, ...points].join(', ')}</p></div>
<div class="row">
<button form="launch" name="frame" value="${link.id}">Open${about}</button>
<button form="launch" name="tab" value="${link.id}" formtarget="_blank" class="quiet">In a new tab${about}</button>
</div>
</li>
`;
}

function chooseButton({ id }: Course, { clientId, name }: Tool): Html {
  return markup`<p>
<button form="launch" name="choose" value="${id} ${clientId}" class="quiet">Choose content with ${name}</button>
</p>
`;
}

function addLinkForm({ id }: Course, tools: Tool[]): Html {
  const options = tools.map(({ clientId, name }) => markup`<option value="${clientId}">${name}</option>`);
  return markup`<details><summary>Add a link by hand</summary>
<form method="post" action="/courses/${id}/links">
<div class="fields">
<label>Tool <select name="tool">${options}</select></label>
<label>Title <input name="title" required></label>
<label>Target link <input name="url" type="url" placeholder="the tool's own"></label>
<label>Points <input name="points" type="number" min="0.01" step="any" placeholder="not graded"></label>
<label>Custom parameters, one name=value per line <textarea name="custom" rows="3"></textarea></label>
</div>
<button>Add</button>
</form>
</details>
`;
}
