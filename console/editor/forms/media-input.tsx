import type { JSX } from 'preact';
import { captionsFields } from '../../../shared/lessons/widget-fields.ts';
import { Button } from '../../kit/button.tsx';
import { TextField } from '../../kit/field.tsx';
import { t } from '../../shell/text.ts';
import { storedText, textsOf } from './form.ts';
import type { InputProps } from './form.ts';
import { ListInput } from './list-input.tsx';

/** A file of the lesson, or the address of one. */
export function MediaInput(props: InputProps): JSX.Element {
  const { form, field, path } = props;
  const value = form.get(path);
  return (
    <TextField
      {...textsOf(props)}
      value={typeof value === 'string' ? value : ''}
      onInput={(text) => form.set([path, storedText(field, text.trim())])}
    />
  );
}

/** The captions of a video or recording: one file, or one for each language. */
export function CaptionsInput(props: InputProps): JSX.Element {
  const { form, field, path } = props;
  const value = form.get(path);
  const list = { kind: 'list', label: field.label, fields: captionsFields } as const;
  if (Array.isArray(value)) return <ListInput form={form} field={list} path={path} />;
  return (
    <div class="stack is-tight">
      <MediaInput {...props} />
      {value === undefined && <p class="help">{t('editor.form.captions_help')}</p>}
      {typeof value === 'string' && (
        <Button
          icon="plus"
          onPress={() => form.set([path, [{ src: value, language: form.language }, { src: '' }]])}
        >
          {t('editor.form.more_languages')}
        </Button>
      )}
    </div>
  );
}
