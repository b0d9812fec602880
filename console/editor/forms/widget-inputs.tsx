import type { ComponentType, JSX } from 'preact';
import type { CoreWidgetType } from '../../../shared/lessons/core-widgets.ts';
import { listOf, recordOf } from '../../../shared/lessons/json-values.ts';
import { partIdOf } from '../../../shared/lessons/scoring/scoring.ts';
import { Field } from '../../kit/field.tsx';
import { t } from '../../shell/text.ts';
import { FormulaPreview } from './formula.tsx';
import { faultAt, fieldText, storedText, textsOf } from './form.ts';
import type { InputProps, PropsOf } from './form.ts';
import { GapsInput } from './gaps-input.tsx';
import { RowsInput } from './list-input.tsx';
import { AltField } from './rich-text/dialogs.tsx';

/** An input of a prop in place of that of its kind; null for a prop that the input of another one changes, too. */
type WidgetInputs = Record<string, ComponentType<never> | null>;

export const widgetInputs: Partial<Record<CoreWidgetType, WidgetInputs>> = {
  MultipleChoice: { choices: ChoicesInput, correct: null },
  FillInTheBlanks: { text: GapsInput, blanks: null },
  TrueFalse: { correct: TruthInput },
  Image: { alt: AltInput },
  Math: { latex: LatexInput },
  Code: { code: CodeInput, language: LanguageInput },
};

/** Returns the id of a part: numbers count as texts. */
function idOf(value: unknown): string {
  return partIdOf(value) ?? '';
}

/** Choices with a tick at the right ones. */
function ChoicesInput(props: PropsOf<'list' | 'object'>): JSX.Element {
  const { form } = props;
  const right = listOf(form.get(['correct'])).map(idOf);
  const hasIds = listOf(form.get(props.path)).every((choice) => recordOf(choice).id !== undefined);
  const isRight = ({ id, correct }: Record<string, unknown>) =>
    id === undefined ? correct === true : right.includes(idOf(id));
  return (
    <>
      <RowsInput
        {...props}
        hidden={hasIds ? ['correct'] : []}
        renderLead={(choice, name) => (
          <input
            type="checkbox"
            class="tick"
            aria-label={t('editor.form.is_right', { choice: name })}
            title={t('editor.form.is_right', { choice: name })}
            checked={isRight(choice)}
            disabled={choice.id === undefined}
            onChange={({ currentTarget }) => {
              const id = idOf(choice.id);
              const others = right.filter((other) => other !== id);
              form.set([['correct'], currentTarget.checked ? [...others, id] : others]);
            }}
          />
        )}
      />
      <p class="help">{t('editor.form.choices_help')}</p>
      {faultAt(form, ['correct']) && (
        <p class="error" role="alert">
          {faultAt(form, ['correct'])}
        </p>
      )}
    </>
  );
}

/** Whether a statement is true. */
function TruthInput(props: InputProps): JSX.Element {
  const { form, path } = props;
  const { label, error } = textsOf(props);
  const value = form.get(path);
  return (
    <fieldset class="choices-field is-list">
      <legend>{label}</legend>
      {[true, false].map((truth) => (
        <label key={String(truth)} class="radio">
          <input type="radio" checked={value === truth} onChange={() => form.set([path, truth])} />{' '}
          {truth ? t('editor.form.true') : t('editor.form.false')}
        </label>
      ))}
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

function AltInput({ form, path }: PropsOf<'text'>): JSX.Element {
  const value = form.get(path);
  return (
    <AltField
      alt={typeof value === 'string' ? value : undefined}
      error={faultAt(form, path)}
      onChange={(alt) => form.set([path, alt])}
    />
  );
}

function LatexInput(props: PropsOf<'text'>): JSX.Element {
  const { form, path, field } = props;
  const value = form.get(path);
  const latex = typeof value === 'string' ? value : '';
  const { label, error } = textsOf(props);
  return (
    <>
      <Field label={label} help={t('editor.form.latex_help')} error={error}>
        {(control) => (
          <textarea
            {...control}
            class="input is-code"
            dir="ltr"
            rows={3}
            spellcheck={false}
            value={latex}
            onInput={({ currentTarget }) => form.set([path, storedText(field, currentTarget.value)])}
          />
        )}
      </Field>
      <FormulaPreview tex={latex} display />
    </>
  );
}

/** A program. Tab leaves the field, as everywhere. */
function CodeInput(props: PropsOf<'text'>): JSX.Element {
  const { form, path, field } = props;
  const value = form.get(path);
  const code = typeof value === 'string' ? value : '';
  return (
    <Field {...textsOf(props)}>
      {(control) => (
        <textarea
          {...control}
          class="input is-code"
          dir="ltr"
          rows={Math.min(24, Math.max(6, code.split('\n').length + 1))}
          spellcheck={false}
          value={code}
          onInput={({ currentTarget }) => form.set([path, storedText(field, currentTarget.value)])}
        />
      )}
    </Field>
  );
}

const codeLanguages =
  'bash c cpp csharp css diff go html java javascript json julia kotlin latex lua markdown matlab php python r ruby rust scala sql swift typescript xml yaml'.split(
    ' ',
  );

function LanguageInput(props: PropsOf<'text'>): JSX.Element {
  const { form, path, field } = props;
  const value = form.get(path);
  return (
    <Field label={fieldText(field.label)} help={textsOf(props).help} error={textsOf(props).error}>
      {(control) => (
        <>
          <input
            {...control}
            class="input"
            dir="ltr"
            spellcheck={false}
            list={`${control.id}-list`}
            value={typeof value === 'string' ? value : ''}
            onInput={({ currentTarget }) => form.set([path, storedText(field, currentTarget.value.trim())])}
          />
          <datalist id={`${control.id}-list`}>
            {codeLanguages.map((language) => (
              <option key={language} value={language} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
