import { markup } from '../../shared/platform/html.ts';
import type { Html } from '../../shared/platform/html.ts';
import { currentScores, gradeOf } from '../line-items.ts';
import type { Course, LineItem, Score } from '../model.ts';
import type { Platform } from '../platform.ts';
import { page } from './layout.ts';

/** Renders the gradebook: each line item with each user's last score. */
export function gradesPage(platform: Platform): string {
  const cards = [...platform.courses.values()].map((course) => courseCard(platform, course));
  return page({ title: 'Grades', main: markup`${cards}`, scripts: ['/assets/grades.js'] });
}

function courseCard(platform: Platform, { id, title }: Course): Html {
  const items = [...platform.lineItems.values()].filter(({ courseId }) => courseId === id);
  const tables = items.map((item) => lineItemTable(platform, item));
  return markup`<section class="card">
<h2>${title}</h2>
${tables.length === 0 ? markup`<p class="soft">No line items yet.</p>` : tables}
</section>
`;
}

function lineItemTable(platform: Platform, item: LineItem): Html {
  const rows = [...currentScores(platform, item.id).values()].map((score) => scoreRow(platform, item, score));
  if (rows.length === 0) {
    return markup`<p><strong>${item.label}</strong> <span class="soft">no scores yet</span></p>\n`;
  }
  return markup`<div class="scroll" tabindex="0" role="group" aria-label="${item.label}"><table>
<caption><strong>${item.label}</strong> <span class="soft">of ${item.scoreMaximum}</span></caption>
<thead><tr><th scope="col">User</th><th scope="col">Grade</th><th scope="col">Sent</th><th scope="col">Activity</th>
<th scope="col">Grading</th><th scope="col">Time</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>
`;
}

function scoreRow({ users }: Platform, item: LineItem, score: Score): Html {
  const grade = gradeOf(item, score);
  const { scoreGiven, scoreMaximum, activityProgress, gradingProgress, comment, timestamp } = score;
  const sent = scoreGiven === null ? 'no score' : `${scoreGiven} of ${scoreMaximum ?? '?'}`;
  return markup`<tr><th scope="row">${users.get(score.userId)?.name ?? score.userId}</th>
<td><strong>${grade === null ? '–' : Math.round(grade * 100) / 100}</strong></td>
<td>${comment === null ? sent : `${sent}: ${comment}`}</td>
<td>${activityProgress}</td><td>${gradingProgress}</td>
<td><time datetime="${timestamp}">${timestamp}</time></td></tr>
`;
}
