import { blockFaults } from '../../../shared/lessons/authoring.ts';
import { listOf, recordOf } from '../../../shared/lessons/json-values.ts';
import type { LessonContent } from '../../../shared/lessons/lesson-content.ts';
import { t } from '../../shell/text.ts';
import type { Block, Finding, StepTree } from './blocks.ts';
import type { Skeleton } from './lesson-document.ts';

/**
 * Checks a step: what an import would report of its blocks, and what is missing for learners who cannot see, hear or
 * use a mouse.
 */
export function findingsOf(stepId: string, tree: StepTree, skeleton: Skeleton): Finding[] {
  if (tree.byId.size === 0) return [{ severity: 'error', text: t('editor.check.empty_step'), stepId }];
  const content = settingsOf(skeleton);
  const blocks = [...tree.byId.values()].map(({ block }) => block);
  const found = blocks.flatMap((block): Finding[] => {
    const place = { severity: 'warning' as const, stepId, blockId: block.props.id };
    const faults = [...blockFaults(block.type, block as Parameters<typeof blockFaults>[1], content)];
    return [
      ...faults.map((text) => ({ ...place, text })),
      ...lacksOf(block).map(({ text, prop }) => ({ ...place, text, path: [prop] })),
    ];
  });
  return [...found, ...headingJumps(stepId, blocks)];
}

/** Returns what a lesson lacks as a whole. */
export function lessonFindings({ lesson, sections }: Skeleton): Finding[] {
  const findings: Finding[] = [];
  if (sections.length === 0) findings.push({ severity: 'error', text: t('editor.check.no_sections') });
  for (const { title, steps } of sections)
    if (steps.length === 0)
      findings.push({ severity: 'error', text: t('editor.check.empty_section', { title }) });
  if (typeof lesson.language !== 'string' || lesson.language === '')
    findings.push({ severity: 'warning', text: t('editor.check.language') });
  return findings;
}

/** What the checks of blocks need of a lesson. */
function settingsOf({ lesson }: Skeleton): LessonContent {
  const settings = recordOf(lesson.widget_settings);
  const widgetSettings = { ...settings, overrides: recordOf(settings.overrides) };
  return { lesson: { ...lesson, widget_settings: widgetSettings }, sections: [] } as unknown as LessonContent;
}

function lacksOf({ type, props }: Block): { text: string; prop: string }[] {
  const { src, alt, captions, transcript } = props;
  if (['Image', 'Video', 'Audio'].includes(type) && (src === undefined || src === ''))
    return [{ text: t('editor.check.file'), prop: 'src' }];
  if (type === 'Image' && alt === undefined) return [{ text: t('editor.check.alt'), prop: 'alt' }];
  const hasTexts = hasText(captions) || listOf(captions).length > 0 || hasText(transcript);
  if ((type === 'Video' || type === 'Audio') && !hasTexts)
    return [{ text: t('editor.check.captions'), prop: type === 'Video' ? 'captions' : 'transcript' }];
  return Object.entries(props).flatMap(([prop, value]) =>
    typeof value === 'string' && /<table/i.test(value) && !/<th[\s>]/i.test(value)
      ? [{ text: t('editor.check.table'), prop }]
      : [],
  );
}

function hasText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function headingJumps(stepId: string, blocks: readonly Block[]): Finding[] {
  let last = 1;
  return blocks.flatMap(({ type, props }): Finding[] => {
    if (type !== 'Heading') return [];
    const level = typeof props.level === 'number' ? props.level : 2;
    const isJump = level > last + 1;
    last = level;
    if (!isJump) return [];
    return [
      {
        ...{ severity: 'warning', text: t('editor.check.heading'), path: ['level'] },
        ...{ stepId, blockId: props.id },
      },
    ];
  });
}
