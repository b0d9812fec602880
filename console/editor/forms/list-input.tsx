import type { JSX } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { listOf, recordOf } from '../../../shared/lessons/json-values.ts';
import type { Field } from '../../../shared/lessons/widget-fields.ts';
import { Button } from '../../kit/button.tsx';
import { Menu } from '../../kit/menu.tsx';
import { t } from '../../shell/text.ts';
import type { Path } from '../model/blocks.ts';
import { faultAt, fieldText, textsOf } from './form.ts';
import type { Form, PropsOf } from './form.ts';
import { newMembers } from './new-block.ts';
import { RichText } from './rich-text/rich-text.tsx';

/** A list whose entries are short texts is written in rows; others have a form for each entry. */
export function ListInput(props: PropsOf<'list' | 'object'>): JSX.Element {
  const required = Object.values(props.field.fields).filter(({ required: isRequired }) => isRequired);
  const isShort = required.length > 0 && required.every(({ kind }) => kind === 'html');
  return isShort ? <RowsInput {...props} /> : <EntriesInput {...props} />;
}

/** Changes of a list. */
function useEntries({ form, field, path }: PropsOf<'list' | 'object'>) {
  const entries = listOf(form.get(path));
  return {
    entries,
    add: (index = entries.length) => form.set([path, entries.toSpliced(index, 0, newMembers(field.fields))]),
    remove: (index: number) => form.set([path, entries.toSpliced(index, 1)]),
    move: (index: number, to: number) =>
      form.set([path, entries.toSpliced(index, 1).toSpliced(to, 0, entries[index])]),
  };
}

type Entries = ReturnType<typeof useEntries>;

function EntryMenu({ list, index, label }: { list: Entries; index: number; label: string }): JSX.Element {
  return (
    <Menu
      label={t('editor.form.entry_menu', { entry: label })}
      items={[
        ...(index > 0
          ? [{ label: t('editor.form.move_up'), onSelect: () => list.move(index, index - 1) }]
          : []),
        ...(index < list.entries.length - 1
          ? [{ label: t('editor.form.move_down'), onSelect: () => list.move(index, index + 1) }]
          : []),
        { label: t('editor.form.remove'), isDanger: true, onSelect: () => list.remove(index) },
      ]}
    >
      ⋮
    </Menu>
  );
}

function EntriesInput(props: PropsOf<'list' | 'object'>): JSX.Element {
  const { form, field, path } = props;
  const list = useEntries(props);
  const { label, help, error } = textsOf(props);
  return (
    <fieldset class="entries">
      <legend>{label}</legend>
      {help && <p class="help">{help}</p>}
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {list.entries.map((_, index) => {
        const name = `${label} ${index + 1}`;
        return (
          <div key={index} class="entry" role="group" aria-label={name}>
            <div class="entry-head">
              <span class="label">{index + 1}</span>
              <EntryMenu list={list} index={index} label={name} />
            </div>
            {Object.entries(field.fields)
              .filter(([, member]) => !member.isGenerated)
              .map(([member, definition]) => (
                <form.Input key={member} form={form} field={definition} path={[...path, index, member]} />
              ))}
          </div>
        );
      })}
      <Button icon="plus" onPress={() => list.add()}>
        {t('editor.form.add', { list: label })}
      </Button>
    </fieldset>
  );
}

interface RowsProps extends PropsOf<'list' | 'object'> {
  /** What comes before the texts of a row. */
  renderLead?: (entry: Record<string, unknown>, label: string) => JSX.Element;
  /** Members without an input of their own. */
  hidden?: readonly string[];
}

/** A list of short texts: Enter adds a row below, and Backspace in an empty one removes it. */
export function RowsInput(props: RowsProps): JSX.Element {
  const { form, field, path, renderLead, hidden = [] } = props;
  const list = useEntries(props);
  const holder = useRef<HTMLFieldSetElement>(null);
  const { label, help, error } = textsOf(props);
  const members = Object.entries(field.fields).filter(
    ([name, { isGenerated }]) => !isGenerated && !hidden.includes(name),
  );
  const columns = members.filter(([, { required }]) => required);
  const others = members.filter(([, member]) => !member.required && !(member.kind === 'text' && member.isId));
  const focus = (index: number) =>
    requestAnimationFrame(() => {
      const row = holder.current?.querySelectorAll('.row')[index];
      row?.querySelector<HTMLElement>('[role=textbox], textarea')?.focus();
    });
  return (
    <fieldset class="entries" ref={holder}>
      <legend>{label}</legend>
      {help && <p class="help">{help}</p>}
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {columns.length > 1 && (
        <div class="row-heads" aria-hidden="true">
          {columns.map(([name, column]) => (
            <span key={name}>{fieldText(column.label)}</span>
          ))}
        </div>
      )}
      {list.entries.map((value, index) => {
        const entry = recordOf(value);
        const name = `${label} ${index + 1}`;
        return (
          <Row
            key={typeof entry.id === 'string' ? entry.id : index}
            form={form}
            path={[...path, index]}
            others={others}
            name={name}
            lead={renderLead?.(entry, name)}
            menu={<EntryMenu list={list} index={index} label={name} />}
          >
            {columns.map(([column, definition]) => (
              <ColumnInput
                key={column}
                form={form}
                label={columns.length > 1 ? `${name}, ${fieldText(definition.label)}` : name}
                path={[...path, index, column]}
                onEnter={() => {
                  list.add(index + 1);
                  focus(index + 1);
                }}
                onRemove={() => {
                  const isEmpty = columns.every(([other]) => (entry[other] ?? '') === '');
                  if (!isEmpty || list.entries.length === 1) return;
                  list.remove(index);
                  focus(Math.max(0, index - 1));
                }}
              />
            ))}
          </Row>
        );
      })}
      <Button
        icon="plus"
        onPress={() => {
          list.add();
          focus(list.entries.length);
        }}
      >
        {t('editor.form.add', { list: label })}
      </Button>
    </fieldset>
  );
}

function Row({
  form,
  path,
  others,
  name,
  lead,
  menu,
  children,
}: {
  form: Form;
  path: Path;
  others: [string, Field][];
  name: string;
  lead: JSX.Element | undefined;
  menu: JSX.Element;
  children: JSX.Element[];
}): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const used = others.filter(([member]) => form.get([...path, member]) !== undefined).length;
  return (
    <div class="row" role="group" aria-label={name}>
      <div class="row-line">
        {lead}
        <div class="row-texts">{children}</div>
        {others.length > 0 && (
          <button
            type="button"
            class={`icon-button${used > 0 ? ' is-used' : ''}`}
            aria-expanded={isOpen}
            aria-controls={id}
            title={t('editor.form.more_of', { entry: name })}
            aria-label={t('editor.form.more_of', { entry: name })}
            onClick={() => setOpen(!isOpen)}
          >
            …
          </button>
        )}
        {menu}
      </div>
      {isOpen && (
        <div class="row-more stack" id={id}>
          {others.map(([member, field]) => (
            <form.Input key={member} form={form} field={field} path={[...path, member]} />
          ))}
        </div>
      )}
    </div>
  );
}

function ColumnInput({
  form,
  label,
  path,
  onEnter,
  onRemove,
}: {
  form: Form;
  label: string;
  path: Path;
  onEnter: () => void;
  onRemove: () => void;
}): JSX.Element {
  const value = form.get(path);
  return (
    <RichText
      label={label}
      hidesLabel
      error={faultAt(form, path)}
      value={typeof value === 'string' ? value : ''}
      language={form.language}
      onChange={(html) => form.set([path, html])}
      onEnter={onEnter}
      onRemove={onRemove}
    />
  );
}
