import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Organization } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Checkbox, Field, TextField } from '../../kit/field.tsx';
import { CopyText, ErrorState, Facts, Progress } from '../../kit/parts.tsx';
import { messageOf, toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import { PageFrame } from '../../shell/page.tsx';
import { formatBytes, t } from '../../shell/text.ts';

/** The settings of the organization. */
export default function OrganizationPage(): JSX.Element {
  const { data, error, reload } = useData('GET /api/organization');
  return (
    <PageFrame title={t('organization.title')}>
      {error !== undefined && <ErrorState error={error} onRetry={reload} />}
      {data !== undefined && (
        <div class="columns">
          <SettingsForm key={data.id} settings={data} onSaved={reload} />
          <div class="stack">
            <section class="card">
              <h2>{t('organization.about')}</h2>
              <Facts
                items={[
                  [t('organization.plan'), data.plan],
                  [t('lesson.slug'), <CopyText key="slug" value={data.slug} label={t('lesson.slug')} />],
                  [t('organization.id'), <CopyText key="id" value={data.id} label={t('organization.id')} />],
                ]}
              />
            </section>
            <Storage />
          </div>
        </div>
      )}
    </PageFrame>
  );
}

function Storage(): JSX.Element | null {
  const { data } = useData('GET /api/organization/storage');
  if (data === undefined) return null;
  const { storedBytes, maxBytes } = data;
  const text =
    maxBytes === null
      ? formatBytes(storedBytes)
      : t('organization.stored', { used: formatBytes(storedBytes), max: formatBytes(maxBytes) });
  return (
    <section class="card">
      <h2>{t('organization.storage')}</h2>
      {maxBytes !== null && <Progress value={Math.min(1, storedBytes / maxBytes)} label={text} />}
      <p class="muted">{text}</p>
    </section>
  );
}

function SettingsForm({
  settings,
  onSaved,
}: {
  settings: Organization;
  onSaved: () => Promise<void>;
}): JSX.Element {
  const [name, setName] = useState(settings.name);
  const [origins, setOrigins] = useState(settings.allowedOrigins.join('\n'));
  const [showsVideos, setShowsVideos] = useState(settings.externalVideos);
  const [error, setError] = useState<string>();
  const save = async () => {
    setError(undefined);
    try {
      await request('PATCH /api/organization', {
        body: {
          name,
          allowedOrigins: origins.split(/\s+/).filter((origin) => origin !== ''),
          externalVideos: showsVideos,
        },
      });
      toast(t('organization.saved'));
      await onSaved();
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextField label={t('organization.name')} value={name} onInput={setName} />
      <Field label={t('organization.origins')} help={t('organization.origins_help')} error={error}>
        {(control) => (
          <textarea
            {...control}
            class="input"
            rows={4}
            spellcheck={false}
            placeholder="https://school.example"
            value={origins}
            onInput={({ currentTarget }) => setOrigins(currentTarget.value)}
          />
        )}
      </Field>
      <Checkbox
        label={t('organization.videos')}
        help={t('organization.videos_help')}
        isChecked={showsVideos}
        onChange={setShowsVideos}
      />
      <div>
        <Button kind="primary" onPress={save}>
          {t('save')}
        </Button>
      </div>
    </form>
  );
}
