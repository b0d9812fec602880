import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ActionDialog } from '../../kit/dialog.tsx';
import { Checkbox, TextField } from '../../kit/field.tsx';
import { t } from '../../shell/text.ts';
import { eventGroups } from './data.ts';
import type { EventType } from './data.ts';

export interface WebhookFields {
  url: string;
  description: string;
  events: EventType[];
}

/** The fields of a new or an existing webhook. @param props.onSave throws what the service rejects */
export function WebhookForm({
  title,
  save,
  initial,
  onSave,
  onClose,
}: {
  title: string;
  save: string;
  initial: WebhookFields;
  onSave: (fields: WebhookFields) => Promise<void>;
  onClose: () => void;
}): JSX.Element {
  const [fields, setFields] = useState(initial);
  const set = (changes: Partial<WebhookFields>) => setFields({ ...fields, ...changes });
  return (
    <ActionDialog title={title} action={save} onClose={onClose} onAction={() => onSave(fields)}>
      <TextField
        label={t('webhook.url')}
        help={t('webhook.url_help')}
        type="url"
        placeholder="https://"
        required
        value={fields.url}
        onInput={(url) => set({ url })}
      />
      <TextField
        label={t('webhook.description')}
        value={fields.description}
        onInput={(description) => set({ description })}
      />
      <fieldset class="choices-field">
        <legend>{t('webhook.events')}</legend>
        {eventGroups.map((group) => (
          <div key={group[0]}>
            {group.map((event) => (
              <Checkbox
                key={event}
                label={event}
                isChecked={fields.events.includes(event)}
                onChange={(isChecked) =>
                  set({
                    events: isChecked
                      ? [...fields.events, event]
                      : fields.events.filter((other) => other !== event),
                  })
                }
              />
            ))}
          </div>
        ))}
      </fieldset>
    </ActionDialog>
  );
}
