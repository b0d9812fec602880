import type { Feedback, Interaction, QtiItem } from './item.ts';
import type { Trials } from './trials.ts';

/** The feedback of a question, where Lectern shows it. HTML. */
export interface PlacedFeedback {
  explanation: string;
  right: string;
  wrong: string;
  /** By the id of the choice. */
  choices: Map<string, string>;
  losses: string[];
}

/** Finds out for which answers learners see each feedback, and places it. */
export function placeFeedback(item: QtiItem, interaction: Interaction, trials: Trials): PlacedFeedback {
  const placed: PlacedFeedback = { explanation: '', right: '', wrong: '', choices: new Map(), losses: [] };
  const { response, choices, type } = interaction;
  const right = trials.rightOf(interaction);
  const ids = type === 'choice' || type === 'hottext' ? choices.map(({ id }) => id) : [];
  const wrongIds = ids.filter((id) => !right.includes(id));
  const wrongAnswers = wrongIds.length > 0 ? wrongIds.map((id) => [id]) : [['\u2400']];
  const add = (before: string, html: string) => (before.includes(html) ? before : before + html);
  const showsAt = (feedback: Feedback, values: readonly string[]) =>
    item.shows(feedback, trials.with(response, values));
  for (const feedback of item.feedbacks) {
    const { html } = feedback;
    const isForRight = right.length > 0 && showsAt(feedback, right);
    const wrongs = wrongAnswers.filter((values) => showsAt(feedback, values));
    const shown = ids.filter((id) => showsAt(feedback, [id]) && !showsAt(feedback, []));
    if (isForRight && wrongs.length === wrongAnswers.length) {
      placed.explanation = add(placed.explanation, html);
    } else if (interaction.isSingle && isForRight && wrongs.length === 0) {
      placed.right = add(placed.right, html);
    } else if (shown.length === 1 && ids.length > 2) {
      const [id = ''] = shown;
      placed.choices.set(id, add(placed.choices.get(id) ?? '', html));
    } else if (isForRight && wrongs.length === 0) placed.right = add(placed.right, html);
    else if (!isForRight && wrongs.length === wrongAnswers.length) placed.wrong = add(placed.wrong, html);
    else if (shown.length > 0) {
      for (const id of shown) placed.choices.set(id, add(placed.choices.get(id) ?? '', html));
    } else placed.losses.push('feedback for some answers is left out');
  }
  return placed;
}
