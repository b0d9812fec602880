import type { EditorView } from 'prosemirror-view';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { coreWidgetFields } from '../../../shared/lessons/core-widget-fields.ts';
import { listOf, recordOf } from '../../../shared/lessons/json-values.ts';
import { gapIds } from '../../../shared/lessons/scoring/fill-in-the-blanks.ts';
import { partIdOf } from '../../../shared/lessons/scoring/scoring.ts';
import { Button } from '../../kit/button.tsx';
import { t } from '../../shell/text.ts';
import { faultAt, textsOf } from './form.ts';
import type { Form, InputProps } from './form.ts';
import { RichText } from './rich-text/rich-text.tsx';

const { fields } = coreWidgetFields.FillInTheBlanks.blanks;
const { id: _id, ...members } = fields;

/** A text in which selected words become gaps, and the accepted answers of each gap. */
export function GapsInput(props: InputProps): JSX.Element {
  const { form, path } = props;
  const view = useRef<EditorView | null>(null);
  const value = form.get(path);
  const text = typeof value === 'string' ? value : '';
  const blanks = listOf(form.get(['blanks'])).map(recordOf);
  const gaps = [...new Set(gapIds(text))];
  const known = blanks.map(({ id }) => String(id));
  const order = (id: unknown) =>
    gaps.includes(partIdOf(id) ?? '') ? gaps.indexOf(partIdOf(id) ?? '') : gaps.length;
  const sorted = blanks
    .map((blank, index) => ({ blank, index }))
    .sort((one, other) => order(one.blank.id) - order(other.blank.id));

  // The text and its blanks change at once: a new gap is one step of undo.
  const added = useRef<{ id: string; answers: string[] }[]>([]);
  const makeGap = () => {
    const made = view.current;
    if (made === null) return;
    const { from, to } = made.state.selection;
    const words = made.state.doc.textBetween(from, to, ' ').trim();
    let number = 1;
    while (known.includes(String(number)) || gaps.includes(String(number))) number += 1;
    added.current = [{ id: String(number), answers: words === '' ? [] : [words] }];
    made.dispatch(made.state.tr.insertText(`[[${number}]]`, from, to).scrollIntoView());
    made.focus();
  };
  return (
    <>
      <div class="stack is-tight">
        <RichText
          {...textsOf(props)}
          help={t('editor.form.gap_help')}
          value={text}
          language={form.language}
          keys={{ 'Mod-g': makeGap }}
          onView={(made) => {
            view.current = made;
          }}
          onChange={(html) => {
            const more = added.current;
            added.current = [];
            const lists: [['blanks'], unknown][] =
              more.length > 0 ? [[['blanks'], [...blanks, ...more]]] : [];
            form.set([path, html], ...lists);
          }}
        />
        <div>
          <Button icon="plus" onPress={makeGap}>
            {t('editor.form.make_gap')}
          </Button>
        </div>
      </div>
      {faultAt(form, ['blanks']) && (
        <p class="error" role="alert">
          {faultAt(form, ['blanks'])}
        </p>
      )}
      {gaps
        .filter((id) => !known.includes(id))
        .map((id) => (
          <div key={id} class="entry">
            <p>{t('editor.form.gap_without_answers', { gap: `[[${id}]]` })}</p>
            <Button onPress={() => form.set([['blanks'], [...blanks, { id, answers: [] }]])}>
              {t('editor.form.add_answers')}
            </Button>
          </div>
        ))}
      {sorted.map(({ blank, index }) => (
        <GapForm
          key={blank.id}
          form={form}
          index={index}
          id={partIdOf(blank.id) ?? ''}
          isMissing={!gaps.includes(partIdOf(blank.id) ?? '')}
        />
      ))}
    </>
  );
}

/** The answers of a gap; `isMissing` if the text does not have it. */
function GapForm({
  form,
  id,
  index,
  isMissing,
}: {
  form: Form;
  id: string;
  index: number;
  isMissing: boolean;
}): JSX.Element {
  const name = t('editor.form.gap', { gap: `[[${id}]]` });
  return (
    <div class="entry" role="group" aria-label={name}>
      <div class="entry-head">
        <span class="label">{name}</span>
        {isMissing && (
          <Button onPress={() => form.set([['blanks'], listOf(form.get(['blanks'])).toSpliced(index, 1)])}>
            {t('editor.form.remove')}
          </Button>
        )}
      </div>
      {isMissing && <p class="error">{t('editor.form.gap_missing')}</p>}
      {Object.entries(members).map(([member, field]) => (
        <form.Input key={member} form={form} field={field} path={['blanks', index, member]} />
      ))}
    </div>
  );
}
