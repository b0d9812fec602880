/**
 * The types of lesson.json: what a package carries, a version stores and a player plays. Every object may have
 * more fields than these, and Lectern keeps them as they are.
 */

export interface LessonContent {
  lesson: LessonMeta;
  sections: Section[];
  totalSections: number;
  totalSteps: number;
  [field: string]: unknown;
}

export interface LessonMeta {
  /** A lower-case UUID. */
  id: string;
  /** Safe as a file name: 1 to 100 characters of a-z, 0-9 and single hyphens. */
  slug: string;
  title: string;
  status: string;
  /** A BCP 47 language tag. */
  language?: string | null;
  /** Minutes, as the author says; see `estimatedDuration` in totals.ts. */
  estimatedDuration?: number | null;
  variable_definitions: VariableDefinition[];
  widget_settings: WidgetSettings;
  [field: string]: unknown;
}

export interface VariableDefinition {
  name: string;
  /** Such as "string", "number" or "boolean"; other types are the player's affair. */
  type: string;
  initialValue?: unknown;
  [field: string]: unknown;
}

export interface WidgetSettings {
  overrides: Record<string, unknown>;
  [field: string]: unknown;
}

export interface Section {
  /** Unique in the lesson. */
  id: string;
  title: string;
  order_index: number;
  steps: Step[];
  [field: string]: unknown;
}

export interface Step {
  /** Unique in the lesson. */
  id: string;
  title: string;
  order_index: number;
  content: StepContent;
  [field: string]: unknown;
}

/** The data model of the Puck editor. */
export interface StepContent {
  content: Block[];
  root: { [field: string]: unknown };
  /** Blocks of older content, by "<id of the block>:<name of the zone>". */
  zones?: Record<string, Block[]>;
  [field: string]: unknown;
}

export interface Block {
  /** The widget type. A lesson that is not finished may lack it: see playability.ts. */
  type?: string;
  props: BlockProps;
  [field: string]: unknown;
}

export interface BlockProps {
  /** Unique in the step. */
  id: string;
  [prop: string]: unknown;
}
