import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  label: string;
  help?: ComponentChildren;
  error?: string | undefined;
}

/** The attributes that connect a control with its label, help and error. */
interface ControlProps {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean;
}

/** A labeled control, with a sentence of help and an error. */
export function Field({
  label,
  help,
  error,
  children,
}: FieldProps & { children: (control: ControlProps) => ComponentChildren }): JSX.Element {
  const id = useId();
  const described = [help !== undefined && `${id}-help`, error !== undefined && `${id}-error`].filter(
    Boolean,
  );
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-describedby': described.length > 0 ? described.join(' ') : undefined,
        'aria-invalid': error !== undefined,
      })}
      {help !== undefined && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {error !== undefined && (
        <p class="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

interface Input {
  name?: string;
  required?: boolean;
  placeholder?: string;
  maxLength?: number;
  autoFocus?: boolean;
  autoComplete?: 'username' | 'current-password' | 'new-password' | 'one-time-code';
  inputMode?: 'numeric';
}

/** A field for a line of text. */
export function TextField({
  label,
  help,
  error,
  value,
  onInput,
  type = 'text',
  ...input
}: FieldProps &
  Input & {
    type?: 'text' | 'email' | 'password' | 'url' | 'datetime-local';
    value: string;
    onInput: (value: string) => void;
  }): JSX.Element {
  // Preact's types know no input whose type is one of several.
  const chosen: object = { type };
  return (
    <Field label={label} help={help} error={error}>
      {(control) => (
        <input
          spellcheck={false}
          {...input}
          {...chosen}
          {...control}
          class="input"
          value={value}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
    </Field>
  );
}

export interface Option<Value extends string> {
  value: Value;
  label: string;
}

/** A field for one of a few choices. */
export function SelectField<Value extends string>({
  value,
  options,
  onChange,
  ...field
}: FieldProps & {
  value: Value;
  options: readonly Option<Value>[];
  onChange: (value: Value) => void;
}): JSX.Element {
  return (
    <Field {...field}>
      {(control) => (
        <select
          {...control}
          class="input"
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** A choice in a toolbar, with its name inside: "Status All". The first option is the default. */
export function Filter<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: Value;
  options: readonly Option<Value>[];
  onChange: (value: Value) => void;
}): JSX.Element {
  return (
    <label class={`filter${value === options[0]?.value ? '' : ' is-set'}`}>
      <span>{label}</span>
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A box to check. */
export function Checkbox({
  label,
  help,
  isChecked,
  onChange,
}: {
  label: string;
  help?: string;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
}): JSX.Element {
  const id = useId();
  return (
    <div class="checkbox">
      <input
        id={id}
        type="checkbox"
        checked={isChecked}
        aria-describedby={help === undefined ? undefined : `${id}-help`}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {help !== undefined && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}
