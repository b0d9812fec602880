import type { Skeleton, SkeletonSection, SkeletonStep } from './lesson-document.ts';

/** A place of a step. */
export interface StepPlace {
  readonly sectionId: string;
  readonly index: number;
}

/** Adds a section at an index. */
export function withSection(skeleton: Skeleton, section: SkeletonSection, index: number): Skeleton {
  return withSections(skeleton, inserted(skeleton.sections, index, section));
}

/** Adds a step. */
export function withStep(skeleton: Skeleton, step: SkeletonStep, { sectionId, index }: StepPlace): Skeleton {
  return withSteps(skeleton, sectionId, (steps) => inserted(steps, index, step));
}

/** Changes members of a section or step, such as the title; undefined removes one. */
export function withMembers(
  skeleton: Skeleton,
  { kind, id }: { kind: 'section' | 'step'; id: string },
  members: Record<string, unknown>,
): Skeleton {
  const changed = <T extends { readonly id: string }>(part: T): T => {
    if (part.id !== id) return part;
    const entries = Object.entries({ ...part, ...members }).filter(([, value]) => value !== undefined);
    return Object.fromEntries(entries) as T;
  };
  return {
    ...skeleton,
    sections: skeleton.sections.map((section) => {
      if (kind === 'section') return changed(section);
      return section.steps.some((step) => step.id === id)
        ? { ...section, steps: section.steps.map(changed) }
        : section;
    }),
  };
}

export function withoutSection(skeleton: Skeleton, sectionId: string): Skeleton {
  return withSections(
    skeleton,
    skeleton.sections.filter(({ id }) => id !== sectionId),
  );
}

export function withoutStep(skeleton: Skeleton, stepId: string): Skeleton {
  const place = placeOfStep(skeleton, stepId);
  if (place === undefined) return skeleton;
  return withSteps(skeleton, place.sectionId, (steps) => steps.filter(({ id }) => id !== stepId));
}

/** Returns where a step is; undefined if the lesson has none with this id. */
export function placeOfStep(skeleton: Skeleton, stepId: string): StepPlace | undefined {
  for (const { id: sectionId, steps } of skeleton.sections) {
    const index = steps.findIndex(({ id }) => id === stepId);
    if (index !== -1) return { sectionId, index };
  }
  return undefined;
}

export function sectionById(skeleton: Skeleton, sectionId: string): SkeletonSection | undefined {
  return skeleton.sections.find(({ id }) => id === sectionId);
}

export function stepById(skeleton: Skeleton, stepId: string): SkeletonStep | undefined {
  return skeleton.sections.flatMap(({ steps }) => steps).find(({ id }) => id === stepId);
}

/** Moves a section to an index, counted without it. */
export function withSectionAt(skeleton: Skeleton, sectionId: string, index: number): Skeleton {
  const section = sectionById(skeleton, sectionId);
  const at = Math.max(0, Math.min(index, skeleton.sections.length - 1));
  if (section === undefined || skeleton.sections[at] === section) return skeleton;
  return withSection(withoutSection(skeleton, sectionId), section, at);
}

/** Moves a step to a place, whose index counts without it. */
export function withStepAt(skeleton: Skeleton, stepId: string, place: StepPlace): Skeleton {
  const step = stepById(skeleton, stepId);
  const from = placeOfStep(skeleton, stepId);
  const isSame = from?.sectionId === place.sectionId && from.index === place.index;
  if (step === undefined || isSame || sectionById(skeleton, place.sectionId) === undefined) return skeleton;
  return withStep(withoutStep(skeleton, stepId), step, place);
}

/** Moves a step by one place, also into the next or previous section. */
export function withStepMoved(skeleton: Skeleton, stepId: string, by: 1 | -1): Skeleton {
  const from = placeOfStep(skeleton, stepId);
  if (from === undefined) return skeleton;
  const at = skeleton.sections.findIndex(({ id }) => id === from.sectionId);
  const index = from.index + by;
  const last = (skeleton.sections[at]?.steps.length ?? 1) - 1;
  if (index >= 0 && index <= last) return withStepAt(skeleton, stepId, { ...from, index });
  const next = skeleton.sections[at + by];
  if (next === undefined) return skeleton;
  return withStepAt(skeleton, stepId, { sectionId: next.id, index: by === 1 ? 0 : next.steps.length });
}

function withSections(skeleton: Skeleton, sections: readonly SkeletonSection[]): Skeleton {
  return { ...skeleton, sections: numbered(sections) };
}

function withSteps(
  skeleton: Skeleton,
  sectionId: string,
  change: (steps: readonly SkeletonStep[]) => readonly SkeletonStep[],
): Skeleton {
  return {
    ...skeleton,
    sections: skeleton.sections.map((section) =>
      section.id === sectionId ? { ...section, steps: numbered(change(section.steps)) } : section,
    ),
  };
}

/** Import sorts by `order_index`, where there is one. */
function numbered<T extends { readonly [name: string]: unknown }>(list: readonly T[]): readonly T[] {
  if (!list.some((part) => typeof part.order_index === 'number')) return list;
  return list.map((part, index) => (part.order_index === index ? part : { ...part, order_index: index }));
}

function inserted<T>(list: readonly T[], index: number, value: T): T[] {
  return [...list.slice(0, index), value, ...list.slice(index)];
}
