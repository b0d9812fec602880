import { memberPath, stepBlocks, usedWidgetTypes } from '../lessons/blocks.ts';
import type { LessonContent, LessonMeta, Section, StepContent } from '../lessons/lesson-content.ts';
import { playabilityErrors } from '../lessons/playability.ts';
import { isRecord, listOf, quote, recordOf } from '../lessons/json-values.ts';
import { totalsOf } from '../lessons/totals.ts';
import { outlineOf } from '../progress/outline.ts';
import { withGeneratedIds } from './generated-ids.ts';
import {
  blockShape,
  lessonFileShape,
  metaShape,
  sectionShape,
  stepShape,
  variableShape,
} from './lesson-shapes.ts';
import type { FaultList } from './package-error.ts';
import { checkShape, placeIn } from './shape-faults.ts';
import slugify from '@sindresorhus/slugify';

const file = 'lesson.json';

/* Limits of the work and memory that each played version costs. They apply to a lesson, however large its texts are. */
const maxParts = 20_000;
const maxSettings = 200;
const maxOutlineCharacters = 2_000_000;
const maxWidgetTypes = 1_000;

/**
 * Checks a parsed lesson.json, each level even if the one above it has faults. Adds missing optional fields, ids and a
 * slug, and counts the totals; keeps all other fields in their order. An unfinished lesson (see playability.ts) causes
 * only warnings.
 *
 * @param lessonId the id of a lesson without one: that of manifest.json
 * @returns undefined if the lesson violates the format; `faults` then has every fault
 * @throws {LecternError} INVALID_CONTENT for content that is nested too deep; `readJsonFile` returns none
 */
export function checkLessonJson(
  value: unknown,
  faults: FaultList,
  lessonId?: string,
): { content: LessonContent; warnings: string[] } | undefined {
  const before = faults.total;
  checkShape(lessonFileShape, value, file, '', faults);
  if (!isRecord(value)) return undefined;
  checkMeta(value.lesson, lessonId, faults);
  const ids = { section: new Map<string, string>(), step: new Map<string, string>() };
  const sections = listOf(value.sections);
  let parts = sections.length;
  for (const [index, section] of sections.entries()) {
    parts += checkSection(section, `sections[${index}]`, ids, faults);
  }
  if (parts > maxParts) {
    faults.add(file, `has ${parts} sections, steps and blocks; at most ${maxParts} are allowed`);
  }
  if (faults.total > before) return undefined;
  const content = completed(value as LessonContent, lessonId);
  const { length } = JSON.stringify(outlineOf(content));
  if (length > maxOutlineCharacters) {
    const fault = `has too many or too long ids of blocks and choices: ${length} characters with the rules of their scores`;
    faults.add(file, `${fault}; at most ${maxOutlineCharacters} are allowed`);
  }
  const types = usedWidgetTypes(content).length;
  if (types > maxWidgetTypes) {
    faults.add(file, `uses ${types} types of widgets; at most ${maxWidgetTypes} are allowed`);
  }
  if (faults.total > before) return undefined;
  const warnings = playabilityErrors(content).map(({ message }) => `${file}: ${message}`);
  const { slug } = (value as LessonContent).lesson as { slug?: string | null };
  if (typeof slug === 'string' && slug !== content.lesson.slug) {
    warnings.unshift(`${file}: lesson.slug: ${quote(slug)} becomes ${quote(content.lesson.slug)}`);
  }
  return { content, warnings };
}

function checkMeta(value: unknown, lessonId: string | undefined, faults: FaultList): void {
  if (value === undefined) return;
  checkShape(metaShape, value, file, 'lesson', faults);
  if (!isRecord(value)) return;
  const id = metaShape.shape.id.safeParse(value.id).data?.toLowerCase();
  if ((value.id ?? lessonId) === undefined) faults.add(`${file}: lesson.id`, 'is missing');
  if (id !== undefined && lessonId !== undefined && id !== lessonId) {
    faults.add('manifest.json: lessonId', `is not the id of lesson.json, ${id}`);
  }
  if (typeof value.slug === 'string' && slugFrom(value.slug) === undefined) {
    faults.add(`${file}: lesson.slug`, 'must have letters a-z or digits in it');
  }
  for (const [type, settings] of Object.entries(recordOf(recordOf(value.widget_settings).overrides))) {
    const { length } = Object.keys(recordOf(settings));
    if (length <= maxSettings) continue;
    const place = placeIn(file, memberPath('lesson.widget_settings.overrides', type));
    faults.add(place, `has ${length} settings; at most ${maxSettings} are allowed`);
  }
  for (const [index, variable] of listOf(value.variable_definitions).entries()) {
    checkShape(variableShape, variable, file, `lesson.variable_definitions[${index}]`, faults);
  }
}

interface SeenIds {
  section: Map<string, string>;
  step: Map<string, string>;
}

/** Returns the number of its steps and blocks. */
function checkSection(value: unknown, path: string, ids: SeenIds, faults: FaultList): number {
  checkShape(sectionShape, value, file, path, faults);
  const { id, steps } = recordOf(value);
  checkUnique(ids.section, id, `${path}.id`, faults);
  let parts = listOf(steps).length;
  for (const [index, step] of listOf(steps).entries()) {
    const stepPath = `${path}.steps[${index}]`;
    checkShape(stepShape, step, file, stepPath, faults);
    checkUnique(ids.step, recordOf(step).id, `${stepPath}.id`, faults);
    parts += checkBlocks(recordOf(recordOf(step).content), `${stepPath}.content`, faults);
  }
  return parts;
}

/** Checks the blocks of a step, and returns their number. The walk accepts unchecked content. */
function checkBlocks(content: Record<string, unknown>, path: string, faults: FaultList): number {
  for (const [name, zone] of Object.entries(recordOf(content.zones))) {
    if (!Array.isArray(zone))
      faults.add(placeIn(file, memberPath(`${path}.zones`, name)), 'must be an array');
  }
  const ids = new Map<string, string>();
  let blocks = 0;
  for (const visit of stepBlocks(content as StepContent, path)) {
    blocks += 1;
    checkShape(blockShape, visit.block, file, visit.path, faults);
    checkUnique(ids, recordOf(recordOf(visit.block).props).id, `${visit.path}.props.id`, faults);
  }
  return blocks;
}

function checkUnique(seen: Map<string, string>, id: unknown, path: string, faults: FaultList): void {
  if (typeof id !== 'string') return;
  const twin = seen.get(id);
  if (twin !== undefined) faults.add(`${file}: ${path}`, `duplicate of ${twin}`);
  else seen.set(id, path);
}

function completed(given: LessonContent, lessonId = ''): LessonContent {
  const content = withGeneratedIds(given);
  const sections = content.sections.map((section): Section => {
    const steps = section.steps.map((step) => ({ ...step, content: withRoot(step.content) }));
    return { ...section, steps };
  });
  return { ...content, lesson: completedMeta(content.lesson, lessonId), sections, ...totalsOf(content) };
}

/** A LessonMeta without the fields that are optional in a package. */
type Incomplete = Omit<LessonMeta, 'id' | 'slug' | 'status' | 'variable_definitions' | 'widget_settings'> & {
  [Field in 'id' | 'slug' | 'status' | 'variable_definitions']?: LessonMeta[Field] | null;
} & { widget_settings?: { overrides?: Record<string, unknown> | null } | null };

function completedMeta(meta: LessonMeta, lessonId: string): LessonMeta {
  const given: Incomplete = meta;
  const id = (given.id ?? lessonId).toLowerCase();
  return {
    ...meta,
    id,
    slug: slugFrom(given.slug ?? meta.title) ?? `lesson-${id.slice(0, 8)}`,
    status: given.status ?? 'draft',
    variable_definitions: given.variable_definitions ?? [],
    widget_settings: { ...given.widget_settings, overrides: given.widget_settings?.overrides ?? {} },
  };
}

function withRoot(content: StepContent): StepContent {
  const { root } = content as { root?: StepContent['root'] | null };
  return root ? content : { ...content, root: {} };
}

const maxSlugLength = 100;

/**
 * Makes a slug that is safe as a file name: 1 to 100 characters of a-z, 0-9 and single hyphens. Undefined if the text
 * has no such character.
 */
export function slugFrom(text: string): string | undefined {
  const slug = slugify(text.slice(0, 2 * maxSlugLength).normalize('NFC'), { decamelize: false })
    .slice(0, maxSlugLength)
    .replace(/^-+|-+$/g, '');
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(slug) ? slug : undefined;
}
