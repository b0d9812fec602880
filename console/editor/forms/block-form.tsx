import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { coreWidgetFields } from '../../../shared/lessons/core-widget-fields.ts';
import type { Field, Fields } from '../../../shared/lessons/widget-fields.ts';
import { Notice } from '../../kit/parts.tsx';
import { locale, t } from '../../shell/text.ts';
import type { Block, Finding, Path } from '../model/blocks.ts';
import { valueAt, withValueAt } from '../model/blocks.ts';
import { FieldInput } from './field-input.tsx';
import { loadTranslations } from './form.ts';
import type { Form } from './form.ts';
import { JsonInput } from './json-input.tsx';
import { widgetInputs } from './widget-inputs.tsx';

interface BlockFormProps {
  block: Block;
  /** Null for a custom widget that publishes none. */
  fields: Fields | null;
  findings: readonly Finding[];
  /** The language of the lesson. */
  language: string;
  /** Consecutive changes of one path are one step of undo. */
  onChange: (props: Block['props'], change: { path: Path }) => void;
  onOpenBlock: (blockId: string) => void;
}

/** Parts of a value that import has made from another prop. They are wrong after it has changed. */
const madeFrom: Record<string, string> = { highlighted: 'code language', mathml: 'latex', size: 'src' };

const groups = ['options', 'scoring', 'feedback'] as const;

/**
 * The form of a block: its fields, with those for few blocks folded away. A widget without fields has its props as JSON.
 * Give it the key of its block, because its texts have a cursor.
 */
export function BlockForm(props: BlockFormProps): JSX.Element {
  const { block, fields, findings } = props;
  const latest = useRef(props);
  latest.current = props;
  // Two changes may come before the next rendering.
  const current = useRef(block.props);
  current.current = block.props;
  useEffect(() => void loadTranslations(), [locale.value]);
  const form: Form = {
    language: props.language,
    findings,
    onOpenBlock: props.onOpenBlock,
    Input: FieldInput,
    get: (path) => valueAt(current.current, path),
    set: (...changes) => {
      const path = changes[0]?.[0] ?? [];
      const changed = changes.reduce((result, [at, value]) => withMember(result, at, value), current.current);
      current.current = withoutStale(changed, latest.current.fields, path);
      latest.current.onChange(current.current, { path });
    },
  };
  const listed = useMemo(() => shownFindings(findings, fields), [findings, fields]);
  return (
    <div class="block-form">
      {listed.map(({ text, severity }) => (
        <Notice key={text} tone={severity === 'error' ? 'bad' : 'warn'}>
          {text}
        </Notice>
      ))}
      {fields === null ? (
        <JsonInput form={form} />
      ) : (
        <FieldsForm form={form} type={block.type} fields={fields} />
      )}
    </div>
  );
}

/** Returns the findings that no input shows. */
function shownFindings(findings: readonly Finding[], fields: Fields | null): Finding[] {
  return findings.filter(({ path: [name] = [] }) => name === undefined || fields?.[name] === undefined);
}

function FieldsForm({ form, type, fields }: { form: Form; type: string; fields: Fields }): JSX.Element {
  const core = Object.hasOwn(coreWidgetFields, type)
    ? widgetInputs[type as keyof typeof coreWidgetFields]
    : undefined;
  const shown = Object.entries(fields).filter(([name, field]) => !field.isGenerated && core?.[name] !== null);
  const input = ([name, field]: [string, Field]) => {
    const Input = (core?.[name] ?? FieldInput) as typeof FieldInput;
    return <Input key={name} form={form} field={field} path={[name]} />;
  };
  const main = shown.filter(([, field]) => field.group === undefined);
  // The question comes before its parts.
  main.sort(([one], [other]) => Number(other === 'prompt') - Number(one === 'prompt'));
  return (
    <>
      {main.length === 0 && shown.length === 0 && <p class="muted">{t('editor.form.nothing')}</p>}
      {main.map(input)}
      {groups.map((group) => {
        const members = shown.filter(([, field]) => field.group === group);
        if (members.length === 0) return null;
        const hasFault = form.findings.some(({ path: [name] = [] }) =>
          members.some(([member]) => member === name),
        );
        return (
          <details key={group} class="form-group" open={hasFault}>
            <summary>{t(`editor.form.group_${group}`)}</summary>
            <div class="stack">{members.map(input)}</div>
          </details>
        );
      })}
    </>
  );
}

function withMember(props: Block['props'], path: Path, value: unknown): Block['props'] {
  if (value !== undefined) return withValueAt(props, path, () => value);
  return withValueAt(props, path.slice(0, -1), (parent) => {
    const { [String(path.at(-1))]: _removed, ...rest } = (parent ?? {}) as Record<string, unknown>;
    return rest;
  });
}

function withoutStale(props: Block['props'], fields: Fields | null, [changed]: Path): Block['props'] {
  const stale = Object.keys(props).filter(
    (name) => fields?.[name]?.isGenerated && madeFrom[name]?.split(' ').includes(String(changed)),
  );
  if (stale.length === 0) return props;
  return Object.fromEntries(
    Object.entries(props).filter(([name]) => !stale.includes(name)),
  ) as Block['props'];
}
