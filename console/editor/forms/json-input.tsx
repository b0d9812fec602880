import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isRecord } from '../../../shared/lessons/json-values.ts';
import { Field } from '../../kit/field.tsx';
import { t } from '../../shell/text.ts';
import type { Form } from './form.ts';

/** The props of a block as JSON, without its id. Only valid JSON is stored. */
export function JsonInput({ form }: { form: Form }): JSX.Element {
  const { id, ...rest } = form.get([]) as Record<string, unknown>;
  const [written, setWritten] = useState<{ text: string; fault?: string }>();
  const text = JSON.stringify(rest, null, 2);
  const change = (given: string) => {
    try {
      const value: unknown = JSON.parse(given);
      if (!isRecord(value)) throw new SyntaxError('{ … }');
      setWritten({ text: given });
      form.set([[], { ...value, id }]);
    } catch (error) {
      setWritten({ text: given, fault: (error as Error).message });
    }
  };
  return (
    <Field
      label={t('editor.form.json')}
      help={t('editor.form.json_help')}
      error={written?.fault === undefined ? undefined : t('editor.form.json_fault', { fault: written.fault })}
    >
      {(control) => (
        <textarea
          {...control}
          class="input is-code"
          dir="ltr"
          rows={14}
          spellcheck={false}
          value={written?.text ?? text}
          onInput={({ currentTarget }) => change(currentTarget.value)}
          // A valid text gives way to the stored one, which undo may have changed.
          onBlur={() => written?.fault === undefined && setWritten(undefined)}
        />
      )}
    </Field>
  );
}
