import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { supportedLanguages } from '../../../shared/i18n/message.ts';
import { ActionDialog } from '../../kit/dialog.tsx';
import { SelectField, TextField } from '../../kit/field.tsx';
import { toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { navigate } from '../../shell/router.tsx';
import { locale, t } from '../../shell/text.ts';

/** Creates a lesson from nothing. */
export function CreateDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const languages = supportedLanguages();
  const own = locale.value.split('-')[0] ?? '';
  const [title, setTitle] = useState('');
  const [language, setLanguage] = useState(languages.includes(own) ? own : 'en');
  return (
    <ActionDialog
      title={t('lessons.create')}
      action={t('lessons.create')}
      isDisabled={title.trim() === ''}
      onClose={onClose}
      onAction={async () => {
        const made = await request('POST /api/lessons', { body: { title, language } });
        toast(t('lesson.made', { title: made.title }));
        onClose();
        navigate(`/lessons/${made.lessonId}/edit`);
      }}
    >
      <p>{t('lessons.create_text')}</p>
      <TextField label={t('lessons.lesson_title')} value={title} onInput={setTitle} maxLength={300} />
      <SelectField
        label={t('lessons.language')}
        value={language}
        options={languages.map((tag) => ({
          value: tag,
          label: new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag,
        }))}
        onChange={setLanguage}
      />
    </ActionDialog>
  );
}
