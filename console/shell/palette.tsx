import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Icon } from '../kit/icon.tsx';
import { messageOf } from '../kit/toast.tsx';
import { request } from './api.ts';
import { pageCommands } from './commands.ts';
import type { Command } from './commands.ts';
import { navigate } from './router.tsx';
import { navigation } from './routes.ts';
import { can } from './session.ts';
import { t } from './text.ts';

const searchDelayMs = 200;
const maxLessons = 8;

/** Finds pages, actions of the open page, and lessons. It opens with Ctrl-K. */
export function CommandPalette({ onClose }: { onClose: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [selected, setSelected] = useState(0);
  const lessons = useLessons(text);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);

  const commands = [...matching(text), ...lessons.commands];
  const current = Math.min(selected, commands.length - 1);
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    onClose();
    void command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && commands.length > 0) {
      event.preventDefault();
      setSelected((current + step + commands.length) % commands.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(commands[current]);
    }
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label={t('palette.title')}
      onCancel={onClose}
      onClick={({ target }) => {
        if (target === dialog.current) onClose();
      }}
    >
      <div class="palette-input">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-expanded={commands.length > 0}
          aria-controls={id}
          aria-activedescendant={commands.length > 0 ? `${id}-${current}` : undefined}
          aria-label={t('palette.title')}
          placeholder={t('palette.placeholder')}
          spellcheck={false}
          autoFocus
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setSelected(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <ul id={id} role="listbox" aria-label={t('palette.results')}>
        {commands.map((command, index) => (
          <li
            key={`${command.label}-${index}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === current}
            onMouseMove={() => setSelected(index)}
            onClick={() => run(command)}
          >
            <Icon name={command.icon} />
            <span>{command.label}</span>
            {command.detail !== undefined && <small>{command.detail}</small>}
          </li>
        ))}
      </ul>
      <p class="palette-note" role="status">
        {lessons.error ?? (commands.length === 0 && !lessons.isLoading ? t('palette.none') : '')}
      </p>
    </dialog>
  );
}

/** Returns the commands of the page and of the navigation whose label has all words of a text. */
function matching(text: string): Command[] {
  const pages = navigation.value.flatMap(({ items }) =>
    items.map(({ label, icon, to }) => ({
      label: t(label),
      icon,
      detail: t('palette.page'),
      run: () => navigate(to),
    })),
  );
  const words = searchable(text).split(/\s+/);
  return [...pageCommands.value, ...pages].filter(({ label }) => {
    const own = searchable(label);
    return words.every((word) => own.includes(word));
  });
}

function searchable(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();
}

/** Finds lessons by their title, when the user pauses. */
function useLessons(text: string) {
  const [state, setState] = useState<{ commands: Command[]; isLoading: boolean; error: string | null }>({
    commands: [],
    isLoading: false,
    error: null,
  });
  useEffect(() => {
    const title = text.trim();
    if (title === '' || !can('read')) {
      setState({ commands: [], isLoading: false, error: null });
      return undefined;
    }
    setState((before) => ({ ...before, isLoading: true }));
    const ending = new AbortController();
    const timer = setTimeout(() => {
      request('GET /api/lessons', { query: { title, limit: maxLessons }, signal: ending.signal }).then(
        ({ lessons }) =>
          setState({
            commands: lessons.map(({ id, title: label, slug }) => ({
              ...{ label, icon: 'book' as const, detail: slug },
              run: () => navigate(`/lessons/${id}`),
            })),
            isLoading: false,
            error: null,
          }),
        (error: unknown) => {
          if (!ending.signal.aborted) setState({ commands: [], isLoading: false, error: messageOf(error) });
        },
      );
    }, searchDelayMs);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [text]);
  return state;
}
