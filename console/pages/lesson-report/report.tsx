import 'messages:page/report';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ConversionReport } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Badge } from '../../kit/parts.tsx';
import type { Tone } from '../../kit/parts.tsx';
import { Table } from '../../kit/table.tsx';
import { Icon } from '../../kit/icon.tsx';
import { t } from '../../shell/text.ts';
import { openPreview } from '../lesson/actions.tsx';

export type Entry = ConversionReport['entries'][number];
export type Result = Entry['result'];

/** From what authors must look at, to what they need not. */
export const results = ['dropped', 'partial', 'kept', 'converted'] as const satisfies Result[];

const tones: Record<Result, Tone> = { converted: 'good', partial: 'warn', kept: 'active', dropped: 'bad' };

/** How many elements of a file were converted, and how many were not. */
export function ReportCounts({ counts }: { counts: Pick<ConversionReport, Result> }): JSX.Element {
  return (
    <ul class="change-counts">
      {results.map(
        (result) =>
          counts[result] > 0 && (
            <li key={result}>
              <Badge tone={tones[result]}>{t(`report.count_${result}`, { count: counts[result] })}</Badge>
            </li>
          ),
      )}
    </ul>
  );
}

const shownAtOnce = 200;

/**
 * Elements of a file, with what became of them.
 *
 * @param props.previewed the version, if it has a preview: the blocks then link to it
 */
export function ReportEntries({
  entries,
  previewed,
}: {
  entries: readonly Entry[] | undefined;
  previewed: { lessonId: string; versionId: string } | undefined;
}): JSX.Element {
  const [shown, setShown] = useState(shownAtOnce);
  const rest = (entries?.length ?? 0) - shown;
  return (
    <>
      <Table
        caption={t('report.elements')}
        columns={[
          { label: t('report.element'), cell: (entry) => <Element entry={entry} previewed={previewed} /> },
          {
            label: t('report.result'),
            cell: ({ result }) => <Badge tone={tones[result]}>{t(`report.${result}`)}</Badge>,
          },
          { label: t('report.reason'), cell: ({ reason }) => reason ?? '–' },
        ]}
        rows={entries?.slice(0, shown).map((entry, index) => ({ ...entry, index }))}
        rowKey={({ index }) => String(index)}
      />
      {rest > 0 && (
        <Button onPress={() => setShown(shown + shownAtOnce)}>
          {t('report.more', { count: Math.min(rest, shownAtOnce), total: rest })}
        </Button>
      )}
    </>
  );
}

function Element({
  entry: { kind, title, path, stepId, blockId },
  previewed,
}: {
  entry: Entry;
  previewed: { lessonId: string; versionId: string } | undefined;
}): JSX.Element {
  return (
    <div class="report-element">
      <span>
        <strong>{title || kind}</strong>{' '}
        {title !== '' && <span class="muted">{kind === 'file' ? t('report.file') : kind}</span>}
      </span>
      {previewed && stepId !== null && blockId !== null ? (
        <button
          type="button"
          class="place"
          title={path}
          onClick={() =>
            void openPreview(
              previewed.lessonId,
              { id: previewed.versionId },
              { step: stepId, block: blockId },
            )
          }
        >
          <Icon name="eye" />
          <span>{t('lesson.show_place')}</span>
        </button>
      ) : (
        <code class="muted">{path}</code>
      )}
    </div>
  );
}
