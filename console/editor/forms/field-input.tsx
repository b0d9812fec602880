import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { listOf, recordOf } from '../../../shared/lessons/json-values.ts';
import { Checkbox, Field, SelectField, TextField } from '../../kit/field.tsx';
import { t } from '../../shell/text.ts';
import { CaptionsInput, MediaInput } from './media-input.tsx';
import { fieldText, storedText, textsOf } from './form.ts';
import type { InputProps, PropsOf } from './form.ts';
import { ListInput } from './list-input.tsx';
import { BlocksInput } from './blocks-input.tsx';
import { RichText } from './rich-text/rich-text.tsx';

/** The input for a field of any kind. */
export function FieldInput(props: InputProps): JSX.Element | null {
  const { field } = props;
  switch (field.kind) {
    case 'text':
      return field.isId ? null : <TextInput {...props} field={field} />;
    case 'number':
      return <NumberInput {...props} field={field} />;
    case 'choice':
      return <ChoiceInput {...props} field={field} />;
    case 'texts':
      return <TextsInput {...props} field={field} />;
    case 'boolean':
      return <BooleanInput {...props} field={field} />;
    case 'html':
      return <HtmlInput {...props} field={field} />;
    case 'image':
    case 'video':
    case 'audio':
      return <MediaInput {...props} field={field} />;
    case 'captions':
      return <CaptionsInput {...props} field={field} />;
    case 'blocks':
      return <BlocksInput {...props} field={field} />;
    case 'list':
      return <ListInput {...props} field={field} />;
    case 'object':
      return <ObjectInput {...props} field={field} />;
  }
}

function TextInput(props: PropsOf<'text'>): JSX.Element {
  const { form, field, path } = props;
  const value = form.get(path);
  return (
    <TextField
      {...textsOf(props)}
      value={typeof value === 'string' || typeof value === 'number' ? String(value) : ''}
      onInput={(text) => form.set([path, storedText(field, text)])}
    />
  );
}

/** A number, in the reader's way of writing its decimals. An invalid one is not stored. */
function NumberInput(props: PropsOf<'number'>): JSX.Element {
  const { form, field, path } = props;
  const value = form.get(path);
  const [written, setWritten] = useState('');
  const stored = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  const { label, help, error } = textsOf(props);
  const read = readNumber(written, field);
  const isInvalid = written.trim() !== '' && read === undefined;
  // Undo changes what is stored, but not what is written.
  const isCurrent = isInvalid || read === readNumber(stored, field);
  return (
    <TextField
      label={label}
      help={help}
      error={isInvalid ? t('editor.form.no_number') : error}
      placeholder={field.default === undefined ? '' : String(field.default)}
      value={isCurrent ? written : stored}
      onInput={(text) => {
        setWritten(text);
        const number = readNumber(text, field);
        if (number !== undefined || text.trim() === '') form.set([path, number]);
      }}
    />
  );
}

function readNumber(text: string, field: PropsOf<'number'>['field']): number | string | undefined {
  const plain = text
    .trim()
    .replace(/\s/g, '')
    .replace('−', '-')
    .replace(/^([^.,]*),([^.,]*)$/, '$1.$2');
  if (field.allowsPercentage && /^\d+(?:\.\d+)?%$/.test(plain)) return plain;
  const number = plain === '' ? Number.NaN : Number(plain);
  const isValid =
    Number.isFinite(number) &&
    (!field.isWhole || Number.isInteger(number)) &&
    number >= (field.min ?? -Infinity) &&
    number <= (field.max ?? Infinity);
  return isValid ? number : undefined;
}

function ChoiceInput(props: PropsOf<'choice'>): JSX.Element {
  const { form, field, path } = props;
  const stored = form.get(path) ?? field.default;
  const value = typeof stored === 'string' || typeof stored === 'number' ? String(stored) : '';
  const options = field.choices.map((choice) => ({
    value: String(choice.value),
    label: fieldText(choice.label),
  }));
  const isKnown = options.some((option) => option.value === value);
  const none = { value: '', label: '–' };
  const own = { value, label: value };
  return (
    <SelectField
      {...textsOf(props)}
      value={value}
      options={[
        ...(field.default === undefined && !field.required ? [none] : []),
        ...options,
        ...(isKnown || value === '' ? [] : [own]),
      ]}
      onChange={(chosen) =>
        form.set([path, field.choices.find((choice) => String(choice.value) === chosen)?.value])
      }
    />
  );
}

/** A list of texts, one on each line. */
function TextsInput(props: PropsOf<'texts'>): JSX.Element {
  const { form, field, path } = props;
  const texts = listOf(form.get(path)).map((text) => (typeof text === 'number' ? String(text) : text));
  const stored = texts.filter((text) => typeof text === 'string').join('\n');
  const [written, setWritten] = useState<string>();
  const lines = (text: string) => text.split('\n').filter((line) => line.trim() !== '');
  const { help, ...texts_ } = textsOf(props);
  return (
    <Field {...texts_} help={[help, t('editor.form.one_per_line')].filter(Boolean).join(' · ')}>
      {(control) => (
        <textarea
          {...control}
          class="input"
          lang={form.language}
          rows={Math.min(8, Math.max(2, texts.length + 1))}
          // Lines that are empty while they are written are not stored.
          value={written !== undefined && lines(written).join('\n') === stored ? written : stored}
          onInput={({ currentTarget }) => {
            setWritten(currentTarget.value);
            const given = lines(currentTarget.value).slice(0, field.maxItems);
            form.set([path, given.length === 0 && !field.required ? undefined : given]);
          }}
        />
      )}
    </Field>
  );
}

function BooleanInput(props: InputProps): JSX.Element {
  const { form, field, path } = props;
  const value = form.get(path);
  const { label, help = '', error } = textsOf(props);
  return (
    <div>
      <Checkbox
        label={label}
        {...(help !== '' && { help })}
        isChecked={typeof value === 'boolean' ? value : field.default === true}
        onChange={(isChecked) => {
          const isDefault = isChecked === (field.default ?? false) && !field.required;
          form.set([path, isDefault ? undefined : isChecked]);
        }}
      />
      {error !== undefined && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

export function HtmlInput(props: InputProps): JSX.Element {
  const { form, field, path } = props;
  const value = form.get(path);
  return (
    <RichText
      {...textsOf(props)}
      value={typeof value === 'string' ? value : ''}
      language={form.language}
      onChange={(html) => form.set([path, storedText(field, html)])}
    />
  );
}

function ObjectInput(props: PropsOf<'list' | 'object'>): JSX.Element {
  const { form, field, path } = props;
  const { label, help } = textsOf(props);
  const isEmpty = Object.keys(recordOf(form.get(path))).length === 0;
  return (
    <details class="form-group" open={!isEmpty}>
      <summary>{label}</summary>
      <div class="stack">
        {help !== undefined && <p class="help">{help}</p>}
        {Object.entries(field.fields).map(([name, member]) => (
          <FieldInput key={name} form={form} field={member} path={[...path, name]} />
        ))}
      </div>
    </details>
  );
}
