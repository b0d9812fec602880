import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { XapiDestination } from '../../api-types.ts';
import { ActionDialog } from '../../kit/dialog.tsx';
import { Checkbox, SelectField, TextField } from '../../kit/field.tsx';
import { t } from '../../shell/text.ts';
import { verbs } from './data.ts';
import type { Verb } from './data.ts';

export type DestinationFields = Pick<
  XapiDestination,
  'endpoint' | 'username' | 'version' | 'verbs' | 'pseudonyms' | 'passingScore'
> & { password?: string };

const versions = ['1.0.3', '2.0.0'] as const;

/**
 * The fields of a new or an existing destination.
 *
 * @param props.isNew whether it has no password yet
 * @param props.onSave throws what the service rejects
 */
export function DestinationForm({
  title,
  save,
  initial,
  isNew,
  onSave,
  onClose,
}: {
  title: string;
  save: string;
  initial: DestinationFields;
  isNew: boolean;
  onSave: (fields: DestinationFields) => Promise<void>;
  onClose: () => void;
}): JSX.Element {
  const [fields, setFields] = useState(initial);
  const [password, setPassword] = useState('');
  const [percent, setPercent] = useState(
    initial.passingScore === null ? '' : String(Math.round(initial.passingScore * 10_000) / 100),
  );
  const set = (changes: Partial<DestinationFields>) => setFields({ ...fields, ...changes });
  const passingScore = shareOf(percent);
  return (
    <ActionDialog
      title={title}
      action={save}
      onClose={onClose}
      isDisabled={passingScore === undefined}
      onAction={() =>
        onSave({
          ...fields,
          passingScore: passingScore ?? null,
          ...((isNew || password !== '') && { password }),
        })
      }
    >
      <ConnectionFields
        fields={fields}
        isNew={isNew}
        password={password}
        onPassword={setPassword}
        set={set}
      />
      <TextField
        label={t('destination.passing_score')}
        help={t('destination.passing_score_help')}
        error={passingScore === undefined ? t('destination.passing_score_error') : undefined}
        value={percent}
        onInput={setPercent}
      />
      <Checkbox
        label={t('destination.pseudonyms')}
        help={t('destination.pseudonyms_help')}
        isChecked={fields.pseudonyms}
        onChange={(pseudonyms) => set({ pseudonyms })}
      />
      <VerbsField chosen={fields.verbs} onChange={(chosen) => set({ verbs: chosen })} />
    </ActionDialog>
  );
}

/** Where the LRS is, and how Lectern logs in there. */
function ConnectionFields({
  fields,
  isNew,
  password,
  onPassword,
  set,
}: {
  fields: DestinationFields;
  isNew: boolean;
  password: string;
  onPassword: (password: string) => void;
  set: (changes: Partial<DestinationFields>) => void;
}): JSX.Element {
  return (
    <>
      <TextField
        label={t('destination.endpoint')}
        help={t('destination.endpoint_help')}
        type="url"
        placeholder="https://"
        required
        value={fields.endpoint}
        onInput={(endpoint) => set({ endpoint })}
      />
      <TextField
        label={t('destination.username')}
        required
        value={fields.username}
        onInput={(username) => set({ username })}
      />
      <TextField
        label={t('log_in.password')}
        {...(!isNew && { help: t('destination.password_help') })}
        type="password"
        autoComplete="new-password"
        required={isNew}
        value={password}
        onInput={onPassword}
      />
      <SelectField
        label={t('destination.version')}
        value={fields.version}
        options={versions.map((value) => ({ value, label: value }))}
        onChange={(version) => set({ version })}
      />
    </>
  );
}

/** Returns the share of a percentage; null for none, undefined for something else. */
function shareOf(percent: string): number | null | undefined {
  if (percent.trim() === '') return null;
  const share = Number(percent.replace(',', '.')) / 100;
  return share >= 0 && share <= 1 ? share : undefined;
}

function VerbsField({
  chosen,
  onChange,
}: {
  chosen: readonly Verb[];
  onChange: (chosen: Verb[]) => void;
}): JSX.Element {
  return (
    <fieldset class="choices-field">
      <legend>{t('destination.verbs')}</legend>
      <div>
        {verbs.map((verb) => (
          <Checkbox
            key={verb}
            label={verb}
            isChecked={chosen.includes(verb)}
            onChange={(isChecked) =>
              onChange(verbs.filter((one) => (one === verb ? isChecked : chosen.includes(one))))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}
