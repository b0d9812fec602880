import type { JSX } from 'preact';
import { Icon } from '../../kit/icon.tsx';
import type { InstallationHealth, InstallationStorage, Queues } from '../../api-types.ts';
import { Badge, ErrorState, Facts, Progress } from '../../kit/parts.tsx';
import { useData } from '../../shell/data.ts';
import { PageFrame } from '../../shell/page.tsx';
import { formatBytes, t } from '../../shell/text.ts';

const pollMs = 10_000;

/** What the installation depends on, its queues and its store. */
export default function HealthPage(): JSX.Element {
  const health = useData('GET /api/operator/health', {}, { everyMs: () => pollMs });
  const queues = useData('GET /api/operator/queues', {}, { everyMs: () => pollMs });
  const storage = useData('GET /api/operator/storage');
  return (
    <PageFrame
      title={t('health.title')}
      status={
        health.data && (
          <Badge tone={health.data.ok ? 'good' : 'bad'}>
            {t(health.data.ok ? 'health.ok' : 'health.faults')}
          </Badge>
        )
      }
      actions={
        queues.data && (
          <a class="button is-plain" href={queues.data.board} target="_blank">
            <Icon name="open" />
            <span>{t('health.board')}</span>
          </a>
        )
      }
    >
      {health.error !== undefined && <ErrorState error={health.error} onRetry={health.reload} />}
      <div class="columns">
        {health.data ? (
          <Checks health={health.data} />
        ) : (
          <section class="card">
            <h2>{t('health.checks')}</h2>
            <Progress value={undefined} label={t('health.checks')} />
          </section>
        )}
        <div class="stack">
          {queues.data && <QueueFigures queues={queues.data} />}
          {storage.data && <Storage storage={storage.data} />}
        </div>
      </div>
    </PageFrame>
  );
}

function Checks({ health: { checks } }: { health: InstallationHealth }): JSX.Element {
  return (
    <section class="card">
      <h2>{t('health.checks')}</h2>
      <ul class="checks">
        {checks.map(({ name, ok, version, message }) => (
          <li key={name} class={ok ? 'is-good' : 'is-bad'}>
            <Icon name={ok ? 'check' : 'warning'} />
            <div>
              <strong>{name}</strong> {version !== null && <span class="muted">{version}</span>}
              <p class="muted">{message}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function QueueFigures({
  queues: { workers, exports, grades, webhook, xapi },
}: {
  queues: Queues;
}): JSX.Element {
  const waiting = (queue: { waiting: number; failed: number }) => t('health.waiting', queue);
  return (
    <section class="card">
      <h2>{t('health.queues')}</h2>
      <Facts
        items={[
          [t('health.workers'), workers],
          [t('exports.title'), t('health.exports', exports)],
          [t('health.grades'), waiting(grades)],
          [t('webhooks.title'), waiting(webhook)],
          ['xAPI', waiting(xapi)],
        ]}
      />
    </section>
  );
}

function Storage({
  storage: { place, sizeBytes, freeBytes, maxCopyBytes },
}: {
  storage: InstallationStorage;
}): JSX.Element {
  const used = sizeBytes === null || freeBytes === null ? undefined : 1 - freeBytes / sizeBytes;
  return (
    <section class="card">
      <h2>{t('organization.storage')}</h2>
      {used !== undefined && <Progress value={used} label={t('organization.storage')} />}
      <Facts
        items={[
          [t('health.place'), <code key="place">{place}</code>],
          freeBytes !== null && [t('health.free'), formatBytes(freeBytes)],
          maxCopyBytes !== null && [t('health.copies'), formatBytes(maxCopyBytes)],
        ]}
      />
    </section>
  );
}
