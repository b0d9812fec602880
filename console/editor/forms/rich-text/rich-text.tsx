import { NodeSelection } from 'prosemirror-state';
import type { Command, EditorState } from 'prosemirror-state';
import type { JSX } from 'preact';
import { useId, useMemo, useState } from 'preact/hooks';
import { Button } from '../../../kit/button.tsx';
import { t } from '../../../shell/text.ts';
import { insertInline, linkAt, setLink } from './commands.ts';
import { FormulaDialog, LinkDialog, PictureDialog } from './dialogs.tsx';
import type { Formula } from './dialogs.tsx';
import type { Attributes } from './html-tree.ts';
import { parseInBrowser } from './html-tree.ts';
import { openHtml } from './open-html.ts';
import { schema } from './schema.ts';
import { Toolbar } from './toolbar.tsx';
import type { Asked } from './toolbar.tsx';
import { useView } from './use-view.ts';
import type { RichTextProps, ViewProps } from './use-view.ts';

const { nodes } = schema;

/**
 * A field for HTML, edited as text. A text that it cannot hold without loss is edited as source. Until the author changes
 * it, the stored text stays as it is.
 */
export function RichText(props: RichTextProps): JSX.Element {
  const { label, hidesLabel, help, error, value, onChange } = props;
  const id = useId();
  const [isSource, setSource] = useState(() => openHtml(value, parseInBrowser) === null);
  const described = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return (
    <div class="field rich-field">
      <span id={id} class={hidesLabel ? 'hidden-text' : 'label'}>
        {label}
      </span>
      {isSource ? (
        <SourceView
          id={id}
          described={described}
          value={value}
          onChange={onChange}
          onText={() => setSource(false)}
        />
      ) : (
        <TextView {...props} id={id} described={described} onSource={() => setSource(true)} />
      )}
      {help && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {error && (
        <p class="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

/** The HTML itself, with a way back to the text if that loses nothing. */
function SourceView({
  id,
  described,
  value,
  onChange,
  onText,
}: {
  id: string;
  described: string | undefined;
  value: string;
  onChange: (html: string) => void;
  onText: () => void;
}): JSX.Element {
  const isLossless = useMemo(() => openHtml(value, parseInBrowser) !== null, [value]);
  return (
    <>
      <textarea
        class="input is-code"
        rows={6}
        dir="ltr"
        spellcheck={false}
        aria-labelledby={id}
        aria-describedby={described}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {isLossless ? (
        <Button onPress={onText}>{t('editor.form.as_text')}</Button>
      ) : (
        <p class="help">{t('editor.form.only_source')}</p>
      )}
    </>
  );
}

function TextView(props: ViewProps): JSX.Element {
  const { holder, state, run, asked, ask } = useView(props);
  return (
    <div
      class="rich-frame"
      onKeyDown={(event) => {
        if (event.key !== 'F10' || !event.altKey) return;
        event.preventDefault();
        event.currentTarget.querySelector<HTMLElement>('.rich-toolbar select')?.focus();
      }}
    >
      {state !== undefined && (
        <Toolbar
          state={state}
          label={t('editor.form.toolbar', { field: props.label })}
          run={run}
          onAsk={ask}
          onSource={props.onSource}
        />
      )}
      <div ref={holder} />
      {state !== undefined && hasBareTable(state) && (
        <p class="help is-note">{t('editor.form.table_headers')}</p>
      )}
      {asked !== undefined && state !== undefined && (
        <AskedDialog asked={asked} state={state} run={run} onClose={() => ask(undefined)} />
      )}
    </div>
  );
}

/** Returns whether a table has no header cell. */
function hasBareTable({ doc }: EditorState): boolean {
  let found = false;
  doc.descendants((node) => {
    if (node.type === nodes.table) {
      let hasHeader = false;
      node.descendants((cell) => {
        hasHeader ||= cell.type === nodes.table_header;
        return !hasHeader;
      });
      found ||= !hasHeader;
    }
    return !found && !node.isTextblock;
  });
  return found;
}

function AskedDialog({
  asked,
  state,
  run,
  onClose,
}: {
  asked: Asked;
  state: EditorState;
  run: (command: Command) => void;
  onClose: () => void;
}): JSX.Element {
  const done = (command: Command) => {
    onClose();
    run(command);
  };
  const selected = state.selection instanceof NodeSelection ? state.selection.node : undefined;
  if (asked === 'link')
    return (
      <LinkDialog href={linkAt(state)?.href ?? ''} onClose={onClose} onDone={(href) => done(setLink(href))} />
    );
  if (asked === 'formula') {
    const formula =
      selected?.type === nodes.formula ? (selected.attrs as Formula) : { tex: '', display: false };
    return (
      <FormulaDialog
        formula={formula}
        onClose={onClose}
        onDone={(made) => done(insertInline(nodes.formula.create({ ...made })))}
      />
    );
  }
  const attributes = selected?.type === nodes.image ? (selected.attrs.attributes as Attributes) : {};
  return (
    <PictureDialog
      picture={{ src: attributes.src ?? '', alt: attributes.alt }}
      onClose={onClose}
      onDone={({ src, alt = '' }) =>
        done(insertInline(nodes.image.create({ attributes: { ...attributes, src, alt } })))
      }
    />
  );
}
