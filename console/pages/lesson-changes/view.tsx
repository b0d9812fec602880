import 'messages:page/changes';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { VersionChange, VersionChanges } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Filter } from '../../kit/field.tsx';
import { Badge, EmptyState, ErrorState, Notice, Progress } from '../../kit/parts.tsx';
import type { PageProps } from '../../shell/page.tsx';
import { setQuery } from '../../shell/router.tsx';
import { can } from '../../shell/session.ts';
import { formatLocale, t } from '../../shell/text.ts';
import { openPreview } from '../lesson/actions.tsx';
import { useVersions } from '../lesson/data.ts';
import type { Version } from '../lesson/data.ts';
import { LessonFrame } from '../lesson/frame.tsx';
import { changeGroups, changeLines, changeTones, chosenVersions, useChanges } from './data.ts';
import type { ChangeGroup } from './data.ts';
import { comparedWords } from './words.ts';
import type { Piece } from './words.ts';

/** What changed between two versions of a lesson, which the URL names. */
export default function ChangesPage({ params: { lessonId = '' } }: { params: PageProps }): JSX.Element {
  const versions = useVersions(lessonId);
  const chosen = chosenVersions(versions.data?.versions ?? []);
  const changes = useChanges(lessonId, chosen);
  return (
    <LessonFrame lessonId={lessonId}>
      {() => {
        const error = versions.error ?? changes.error;
        if (versions.data !== undefined && versions.data.versions.length < 2)
          return (
            <EmptyState icon="history" title={t('changes.single')}>
              {t('changes.single_text')}
            </EmptyState>
          );
        return (
          <>
            {chosen && <Versions versions={versions.data?.versions ?? []} {...chosen} />}
            {error !== undefined ? (
              <ErrorState error={error} onRetry={changes.reload} />
            ) : chosen && chosen.since === chosen.until ? (
              <Notice tone="warn">{t('changes.same_version')}</Notice>
            ) : changes.data === undefined ? (
              <Progress value={undefined} label={t('changes.comparing')} />
            ) : (
              <Changes
                shown={changes.data}
                previewed={chosen && isPreviewable(chosen.until) ? chosen.until : undefined}
              />
            )}
          </>
        );
      }}
    </LessonFrame>
  );
}

function Versions({
  versions,
  since,
  until,
}: {
  versions: readonly Version[];
  since: Version;
  until: Version;
}): JSX.Element {
  const options = versions.map(({ id, versionNumber, status }) => ({
    value: id,
    label: `${versionNumber.toLocaleString(formatLocale())} · ${t(`status.${status}`)}`,
  }));
  return (
    <div class="toolbar">
      <Filter
        label={t('changes.since')}
        value={since.id}
        options={options}
        onChange={(id) => setQuery({ since: id })}
      />
      <Filter
        label={t('changes.until')}
        value={until.id}
        options={options}
        onChange={(id) => setQuery({ version: id, since: since.id })}
      />
    </div>
  );
}

function Changes({
  shown: { lessonId, summary, changes, media, isComplete },
  previewed,
}: {
  shown: VersionChanges;
  previewed: Version | undefined;
}): JSX.Element {
  const lines = changeLines(summary);
  if (lines.length === 0)
    return (
      <EmptyState icon="check" title={t('changes.none')}>
        {t('changes.none_text')}
      </EmptyState>
    );
  return (
    <>
      <section class="card" aria-label={t('changes.summary')}>
        <ul class="change-counts">
          {lines.map(({ text, tone }) => (
            <li key={text}>
              <Badge tone={tone}>{text}</Badge>
            </li>
          ))}
        </ul>
        {!isComplete && <p class="muted">{t('changes.cut', { count: changes.length })}</p>}
      </section>
      {changeGroups(changes).map((group, index) => (
        <Group
          key={index}
          group={group}
          onPreview={previewed && ((step) => openPreview(lessonId, previewed, { step }))}
        />
      ))}
      {media.length > 0 && (
        <section class="card">
          <header>
            <h2>{t('changes.media')}</h2>
          </header>
          <ul class="changes">
            {media.map(({ id, change, mimeType }) => (
              <li key={id}>
                <p class="change-head">
                  <Badge tone={changeTones[change]}>{t(`changes.${change}`)}</Badge>
                  <span>{mimeType}</span>
                  <code class="muted">{id}</code>
                </p>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function isPreviewable({ status }: Version): boolean {
  return can('content') && status !== 'unpublished';
}

/** The changes of one step, of a section itself, or of the lesson's settings. */
function Group({
  group: { section, step, changes },
  onPreview,
}: {
  group: ChangeGroup;
  onPreview: ((stepId: string) => unknown) | undefined;
}): JSX.Element {
  const isRemoved = changes.some((change) => change.kind === 'step' && change.changes.includes('removed'));
  const title = step
    ? t('changes.step', { number: step.number, title: step.title })
    : section
      ? t('changes.section', { number: section.number, title: section.title })
      : t('changes.lesson');
  return (
    <section class="card">
      <header>
        <h2>{title}</h2>
        {step && section && (
          <span class="muted">{t('changes.section', { number: section.number, title: section.title })}</span>
        )}
        {step && onPreview && !isRemoved && (
          <Button kind="quiet" icon="eye" onPress={() => onPreview(step.id)}>
            {t('lesson.preview')}
          </Button>
        )}
      </header>
      <ul class="changes">
        {changes.map((change, index) => (
          <Change key={index} change={change} />
        ))}
      </ul>
    </section>
  );
}

function Change({
  change: { kind, changes, block, from, formerId, values },
}: {
  change: VersionChange;
}): JSX.Element {
  return (
    <li>
      <p class="change-head">
        {changes.map((name) => (
          <Badge key={name} tone={changeTones[name]}>
            {t(`changes.${name}`)}
          </Badge>
        ))}
        <strong>{block ? block.type : t(`changes.kind_${kind === 'block' ? 'lesson' : kind}`)}</strong>
        {block && (
          <span class="muted" dir="auto">
            {block.text}
          </span>
        )}
      </p>
      {from && (
        <p class="muted">
          {from.step
            ? t('changes.from_step', { number: from.step.number, title: from.step.title })
            : t('changes.from_section', { number: from.section.number, title: from.section.title })}
        </p>
      )}
      {formerId !== null && <p class="muted">{t('changes.new_id')}</p>}
      {values.length > 0 && (
        <dl class="change-values">
          {values.map(({ path, before, after, isCut }) => (
            <div key={path}>
              <dt>
                <code>{path}</code>
              </dt>
              <dd dir="auto">
                <Words before={before} after={after} />
                {isCut && <span class="muted"> {t('changes.cut_text')}</span>}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  );
}

/** The difference between two texts. */
function Words({ before, after }: { before: string | null; after: string | null }): JSX.Element {
  const pieces = useMemo((): Piece[] => {
    if (before !== null && after !== null) return comparedWords(before, after);
    return before === null ? [{ text: after ?? '', kind: 'added' }] : [{ text: before, kind: 'removed' }];
  }, [before, after]);
  return (
    <>
      {pieces.map(({ text, kind }, index) => {
        if (kind === 'same') return <span key={index}>{text}</span>;
        const Mark = kind === 'added' ? 'ins' : 'del';
        return (
          <Mark key={index}>
            <Spoken>{`${t(kind === 'added' ? 'changes.ins' : 'changes.del')} `}</Spoken>
            {text}
            <Spoken>{` ${t('changes.end')} `}</Spoken>
          </Mark>
        );
      })}
    </>
  );
}

/** A text for screen readers. Its own direction keeps it from deciding that of the text around it. */
function Spoken({ children }: { children: string }): JSX.Element {
  return (
    <span class="hidden-text" dir="auto">
      {children}
    </span>
  );
}
