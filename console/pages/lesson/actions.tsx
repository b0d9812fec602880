import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ListedLesson, VersionCheck } from '../../api-types.ts';
import { ActionDialog, Dialog } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/field.tsx';
import { Icon } from '../../kit/icon.tsx';
import { CodeBlock, ErrorState, Notice, Progress } from '../../kit/parts.tsx';
import { orToast, toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import type { Loaded } from '../../shell/data.ts';
import { navigate } from '../../shell/router.tsx';
import { can } from '../../shell/session.ts';
import { t } from '../../shell/text.ts';
import { useUses } from './data.ts';
import type { Version } from './data.ts';

interface VersionDialog {
  lesson: ListedLesson;
  version: Version;
  onClose: () => void;
  onDone: () => Promise<void>;
}

/** Makes a link that shows a version for an hour. It records nothing. */
function makePreview(lessonId: string, versionId: string): Promise<{ url: string }> {
  const params = { lessonId, versionId };
  return request('POST /api/lessons/{lessonId}/versions/{versionId}/preview-links', { params });
}

/**
 * Opens a version in a new tab, for an hour. It records nothing.
 *
 * @param at the step and the block to show
 */
export async function openPreview(
  lessonId: string,
  { id }: Pick<Version, 'id'>,
  at?: { step: string; block?: string },
): Promise<void> {
  await orToast(async () => {
    const link = await makePreview(lessonId, id);
    const url = at === undefined ? link.url : `${link.url}#${new URLSearchParams(at)}`;
    if (open(url, '_blank') === null)
      toast(t('lesson.preview_ready'), 'done', {
        label: t('lesson.preview_open'),
        run: () => open(url, '_blank'),
      });
  });
}

/** A preview link for someone without an account. */
export function LinkDialog({
  lessonId,
  version,
  onClose,
}: {
  lessonId: string;
  version: Version;
  onClose: () => void;
}): JSX.Element {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    void orToast(async () => setUrl((await makePreview(lessonId, version.id)).url)).then((isMade) => {
      if (!isMade) onClose();
    });
  }, []);
  return (
    <Dialog title={t('lesson.preview_link')} onClose={onClose}>
      <p>{t('lesson.preview_link_text')}</p>
      {url === undefined ? (
        <Progress value={undefined} label={t('lesson.preview_link')} />
      ) : (
        <CodeBlock label={t('lesson.preview_link')} code={url} />
      )}
    </Dialog>
  );
}

/** The result of a check, without a change. */
export function CheckDialog({
  lessonId,
  version,
  onClose,
}: {
  lessonId: string;
  version: Version;
  onClose: () => void;
}): JSX.Element {
  const checked = useCheck({ lessonId, versionId: version.id });
  return (
    <Dialog title={t('lesson.check_title', { number: version.versionNumber })} onClose={onClose}>
      <CheckResult {...checked} />
    </Dialog>
  );
}

export function useCheck(params: { lessonId: string; versionId: string }): Loaded<VersionCheck> {
  return useData('GET /api/lessons/{lessonId}/versions/{versionId}/check', { params });
}

/** What a check found, or that it runs. */
export function CheckResult({ data, error, reload }: Loaded<VersionCheck>): JSX.Element {
  if (error !== undefined) return <ErrorState error={error} onRetry={reload} />;
  if (data === undefined)
    return (
      <div class="stack">
        <p class="muted">{t('lesson.checking')}</p>
        <Progress value={undefined} label={t('lesson.checking')} />
      </div>
    );
  const { playability, warnings } = data;
  if (playability.valid && warnings.length === 0)
    return <Notice tone="good">{t('lesson.check_fine')}</Notice>;
  return (
    <>
      {!playability.valid && (
        <Notice tone="bad" title={t('lesson.check_unplayable')}>
          <ul class="bullets">
            {playability.errors.map(({ message }, index) => (
              <li key={index}>{message}</li>
            ))}
          </ul>
        </Notice>
      )}
      <Warnings warnings={warnings} {...(playability.valid && { previewed: data })} />
    </>
  );
}

type Warning = VersionCheck['warnings'][number];

/** The warnings of a check or an import. @param props.previewed a version in whose preview they can be shown */
export function Warnings({
  warnings,
  previewed,
}: {
  warnings: readonly Warning[];
  previewed?: { lessonId: string; versionId: string };
}): JSX.Element | null {
  if (warnings.length === 0) return null;
  return (
    <Notice tone="warn" title={t('lesson.check_warnings', { count: warnings.length })}>
      <ul class="bullets">
        {warnings.map(({ message, place }, index) => (
          <li key={index}>
            {message}
            {place && previewed && (
              <Place
                place={place}
                onOpen={(at) => openPreview(previewed.lessonId, { id: previewed.versionId }, at)}
              />
            )}
          </li>
        ))}
      </ul>
    </Notice>
  );
}

/** A link to a block in the preview, which names its step and its text. */
function Place({
  place: { section, step, block },
  onOpen,
}: {
  place: NonNullable<Warning['place']>;
  onOpen: (at: { step: string; block: string }) => unknown;
}): JSX.Element {
  return (
    <button
      type="button"
      class="place"
      title={t('lesson.show_place')}
      onClick={() => void onOpen({ step: step.id, block: block.id })}
    >
      <Icon name="eye" />
      <span>
        {section.title} › {step.title} › {block.type}
        {block.text && ` “${block.text}”`}
      </span>
    </button>
  );
}

/** Publishes or unpublishes a version, with a notice that can undo it. */
async function setPublished(
  changed: Omit<VersionDialog, 'onClose'>,
  isPublished: boolean,
  force = false,
): Promise<void> {
  const { lesson, version, onDone } = changed;
  const params = { lessonId: lesson.id, versionId: version.id };
  if (isPublished)
    await request('POST /api/lessons/{lessonId}/versions/{versionId}/publish', {
      params,
      query: { force: force ? 'true' : 'false' },
    });
  else await request('POST /api/lessons/{lessonId}/versions/{versionId}/unpublish', { params });
  const values = { number: version.versionNumber, title: lesson.title };
  toast(isPublished ? t('lesson.published', values) : t('lesson.unpublished', values), 'done', {
    label: t('lesson.undo'),
    // A version that was published before may be published again, whatever a check says.
    run: () => setPublished(changed, !isPublished, true),
  });
  await onDone();
}

/** Publishes a version after a check. */
export function PublishDialog({ lesson, version, onClose, onDone }: VersionDialog): JSX.Element {
  const number = version.versionNumber;
  const params = { lessonId: lesson.id, versionId: version.id };
  const checked = useCheck(params);
  const isPlayable = checked.data?.playability.valid !== false;
  return (
    <ActionDialog
      title={t('lesson.publish_title', { number })}
      action={isPlayable ? t('lesson.publish') : t('lesson.publish_anyway')}
      isDanger={!isPlayable}
      isDisabled={checked.data === undefined}
      onClose={onClose}
      onAction={async () => {
        await setPublished({ lesson, version, onDone }, true, !isPlayable);
      }}
    >
      <CheckResult {...checked} />
      <p>
        {lesson.latestVersion === null
          ? t('lesson.publish_first')
          : t('lesson.publish_next', { number: lesson.latestVersion.versionNumber })}
      </p>
    </ActionDialog>
  );
}

/** Makes a new lesson of a version. */
export function CopyDialog({ lesson, version, onClose }: Omit<VersionDialog, 'onDone'>): JSX.Element {
  const [title, setTitle] = useState(t('lesson.copy_of', { title: lesson.title }));
  return (
    <ActionDialog
      title={t('lesson.copy')}
      action={t('lesson.copy')}
      isDisabled={title.trim() === ''}
      onClose={onClose}
      onAction={async () => {
        const params = { lessonId: lesson.id, versionId: version.id };
        const route = 'POST /api/lessons/{lessonId}/versions/{versionId}/copies';
        const made = await request(route, { params, body: { title } });
        toast(t('lesson.made', { title: made.title }));
        onClose();
        navigate(`/lessons/${made.lessonId}`);
      }}
    >
      <p>{t('lesson.copy_text', { number: version.versionNumber })}</p>
      <TextField label={t('lessons.lesson_title')} value={title} onInput={setTitle} maxLength={300} />
    </ActionDialog>
  );
}

/** Unpublishes a version, after saying what follows. */
export function UnpublishDialog({ lesson, version, onClose, onDone }: VersionDialog): JSX.Element {
  const number = version.versionNumber;
  return (
    <ActionDialog
      title={t('lesson.unpublish_title', { number })}
      action={t('lesson.unpublish')}
      isDanger
      onClose={onClose}
      onAction={() => setPublished({ lesson, version, onDone }, false)}
    >
      <p>{t('lesson.unpublish_text')}</p>
    </ActionDialog>
  );
}

/** Deletes a lesson, after saying what is affected. */
export function DeleteDialog({
  lesson,
  versions,
  onClose,
}: {
  lesson: ListedLesson;
  versions: readonly Version[];
  onClose: () => void;
}): JSX.Element {
  const params = { lessonId: lesson.id };
  const learners = useData(can('learners') ? 'GET /api/lessons/{lessonId}/learners' : null, {
    params,
    query: { limit: 1 },
  });
  const hasLearners = (learners.data?.learners.length ?? 1) > 0;
  const links = useUses(lesson.id).data?.platforms.reduce((sum, platform) => sum + platform.links, 0) ?? 0;
  const published = versions.filter(({ status }) => status === 'published').length;
  return (
    <ActionDialog
      title={t('lesson.delete_title', { title: lesson.title })}
      action={t('lesson.delete')}
      isDanger
      onClose={onClose}
      onAction={async () => {
        await request('DELETE /api/lessons/{lessonId}', { params });
        toast(t('lesson.deleted', { title: lesson.title }));
        navigate('/lessons');
      }}
    >
      <ul class="bullets">
        <li>{t('lesson.delete_versions', { count: versions.length, published })}</li>
        <li>{t(hasLearners ? 'lesson.delete_learners' : 'lesson.delete_unused')}</li>
        {links > 0 && <li>{t('lesson.delete_links', { count: links })}</li>}
        <li>{t('lesson.delete_restore')}</li>
      </ul>
    </ActionDialog>
  );
}
