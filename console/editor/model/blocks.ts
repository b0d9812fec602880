import type { Fields } from '../../../shared/lessons/widget-fields.ts';
import { memberFields } from '../../../shared/lessons/widget-fields.ts';
import { isRecord, listOf, recordOf } from '../../../shared/lessons/json-values.ts';

/** A block of a step, as stored. Never mutated: a change makes new objects along its path. */
export interface Block {
  readonly type: string;
  readonly props: { readonly id: string; readonly [name: string]: unknown };
}

/** The content of a step: Puck's data model. */
export interface StepContent {
  readonly content: readonly Block[];
  readonly [name: string]: unknown;
}

/** Where a value lies in another: names of members and indices of lists. */
export type Path = readonly (string | number)[];

/** A fault or warning of a check, at a block and a prop. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly text: string;
  readonly stepId?: string;
  readonly blockId?: string;
  /** In the block's props. */
  readonly path?: Path;
}

/** Returns the fields of a widget type; null for a custom widget that publishes none. */
export type FieldsOf = (type: string) => Fields | null;

/** A block in its place. */
export interface BlockNode {
  readonly block: Block;
  /** From the top of the content of the step. */
  readonly path: Path;
  readonly slots: readonly Slot[];
}

/** A list of blocks inside a block. */
export interface Slot {
  /** From the top of the content of the step. */
  readonly path: Path;
  /** The path in the props of the block; null for a zone. */
  readonly inProps: Path | null;
  /** What names it for authors: the title of a panel or tab; null for none. */
  readonly title: string | null;
  readonly nodes: readonly BlockNode[];
}

/** The blocks of a step, with those inside others. */
export interface StepTree {
  readonly nodes: readonly BlockNode[];
  readonly byId: ReadonlyMap<string, BlockNode>;
}

/** The path of a step's own list of blocks. */
export const topList: Path = ['content'];

/** Returns the value at a path; undefined if there is none. */
export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, name) => (Array.isArray(value) ? value[Number(name)] : recordOf(value)[name]),
    root,
  );
}

/** Returns a copy of a value that differs at a path only. Objects along the path that are missing are made. */
export function withValueAt<T>(root: T, path: Path, change: (value: unknown) => unknown): T {
  const [name, ...rest] = path;
  if (name === undefined) return change(root) as T;
  if (Array.isArray(root)) {
    const copy: unknown[] = [...(root as unknown[])];
    copy[Number(name)] = withValueAt(copy[Number(name)], rest, change);
    return copy as T;
  }
  const value = recordOf(root);
  return { ...value, [name]: withValueAt(value[name], rest, change) } as T;
}

/** Reads the blocks of a step. */
export function readBlocks(content: StepContent, fieldsOf: FieldsOf): StepTree {
  const byId = new Map<string, BlockNode>();
  const zones = Object.keys(recordOf(content.zones));
  const readList = (path: Path): BlockNode[] =>
    listOf(valueAt(content, path)).flatMap((value, index) => {
      if (!isBlock(value)) return [];
      const at = [...path, index];
      const slots = slotsOf(value, fieldsOf(value.type)).map(({ inProps, title }): Slot => ({
        ...{ inProps, title, path: [...at, 'props', ...inProps] },
        nodes: readList([...at, 'props', ...inProps]),
      }));
      const own = zones.filter((zone) => zone.startsWith(`${value.props.id}:`));
      const inZones = own.map((zone): Slot => {
        const zonePath = ['zones', zone];
        return {
          ...{ path: zonePath, inProps: null, title: zone.slice(value.props.id.length + 1) },
          nodes: readList(zonePath),
        };
      });
      const node = { block: value, path: at, slots: [...slots, ...inZones] };
      byId.set(value.props.id, node);
      return [node];
    });
  return { nodes: readList(topList), byId };
}

/** Returns whether a value is a block that the editor can show. */
export function isBlock(value: unknown): value is Block {
  const { type, props } = recordOf(value);
  return typeof type === 'string' && isRecord(props) && typeof props.id === 'string';
}

interface FoundSlot {
  inProps: Path;
  title: string | null;
}

/** Finds the lists of blocks in the props of a block; without fields, those that have blocks. */
function slotsOf({ props }: Block, fields: Fields | null): FoundSlot[] {
  return fields === null ? foundSlots(props, []) : fieldSlots(props, fields, [], null);
}

function fieldSlots(value: unknown, fields: Fields, path: Path, title: string | null): FoundSlot[] {
  return Object.entries(fields).flatMap(([name, field]): FoundSlot[] => {
    const at = [...path, name];
    const member = recordOf(value)[name];
    if (field.kind === 'blocks')
      return field.inColumns
        ? listOf(member).map((_, index) => ({ inProps: [...at, index], title: null }))
        : [{ inProps: at, title }];
    const members = memberFields(field);
    if (members === undefined) return [];
    if (field.kind !== 'list') return fieldSlots(member, members, at, title);
    return listOf(member).flatMap((entry, index) => {
      const named = recordOf(entry).title;
      return fieldSlots(entry, members, [...at, index], typeof named === 'string' ? named : null);
    });
  });
}

function foundSlots(value: unknown, path: Path): FoundSlot[] {
  if (Array.isArray(value)) {
    if (value.length > 0 && value.every(isBlock)) return [{ inProps: path, title: null }];
    return value.flatMap((entry, index) => foundSlots(entry, [...path, index]));
  }
  return Object.entries(recordOf(value)).flatMap(([name, member]) => foundSlots(member, [...path, name]));
}
