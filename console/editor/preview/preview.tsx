import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { FromEditFrame, Look } from '../../../shared/lessons/preview-messages.ts';
import { textDirection } from '../../../shared/i18n/message.ts';
import { recordOf } from '../../../shared/lessons/json-values.ts';
import type { Scheme } from '../../../shared/theme/tokens.ts';
import type { PreviewFrame } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import type { MenuItem } from '../../kit/menu.tsx';
import { ErrorState } from '../../kit/parts.tsx';
import { base } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import { t } from '../../shell/text.ts';
import type { StepContent, StepTree } from '../model/blocks.ts';
import type { BlockPlace } from '../model/edit-blocks.ts';
import { connectFrame } from './frame-link.ts';
import type { FrameLink } from './frame-link.ts';
import { Overlay } from './overlay.tsx';
import type { Layout } from './places.ts';

export interface PreviewProps {
  lessonId: string;
  stepId: string;
  content: StepContent;
  /** The blocks of the content. */
  tree: StepTree;
  /** A BCP 47 tag: that of the lesson. */
  language: string;
  /** Default props by widget type, of the lesson's settings. */
  overrides: unknown;
  selectedId: string | null;
  onSelect: (blockId: string | null) => void;
  /** Returns the menu of blocks that can be added at a place. */
  insertItems: (place: BlockPlace) => readonly (MenuItem | null)[];
  /** Returns the lesson as it is in the editor. */
  lesson: () => Promise<unknown>;
}

/** What authors choose for the preview only. */
interface View {
  /** In CSS pixels; undefined for all that there is. */
  width: number | undefined;
  scheme: Scheme | undefined;
  direction: 'ltr' | 'rtl' | undefined;
}

/** Before the URL of the files expires. */
const renewalMs = 300_000;

/** Shows a step with the real widgets, in a frame of an opaque origin, and marks its blocks. */
export function Preview(props: PreviewProps): JSX.Element {
  const { data, error, reload } = useData(
    'GET /api/lessons/{lessonId}/draft/preview-frame',
    { params: { lessonId: props.lessonId } },
    { everyMs: (loaded) => (loaded === undefined ? 0 : Math.max(60_000, timeLeft(loaded) - renewalMs)) },
  );
  if (data !== undefined) return <LoadedPreview {...props} frame={data} />;
  return error === undefined ? <div /> : <ErrorState error={error} onRetry={reload} />;
}

function timeLeft({ expiresAt }: PreviewFrame): number {
  return new Date(expiresAt).getTime() - Date.now();
}

function LoadedPreview({ frame, ...props }: PreviewProps & { frame: PreviewFrame }): JSX.Element {
  const { language, overrides, content, tree, selectedId } = props;
  const [view, setView] = useState<View>({ width: undefined, scheme: undefined, direction: undefined });
  const [isPlaying, setPlaying] = useState(false);
  const look = useMemo(
    (): Look => ({
      language,
      direction: view.direction ?? textDirection(language),
      scheme: view.scheme ?? frame.scheme ?? undefined,
      theme: frame.theme ?? undefined,
      content: new URL(frame.contentUrl, base).href,
      overrides: recordOf(overrides),
      ownTypes: frame.ownTypes,
    }),
    [language, view, frame, overrides],
  );
  const { iframe, link, layout, height } = useFrame(frame.frameUrl, { look, content, isPlaying });
  const { sheet, width } = useWidth();
  useEffect(() => {
    if (selectedId !== null) link.current?.post({ type: 'reveal', blockId: selectedId });
  }, [selectedId]);
  const play = async () => {
    const lesson = await props.lesson();
    setPlaying(true);
    link.current?.post({ type: 'play', lesson, stepId: props.stepId });
  };
  const isStale = layout?.content !== content || Math.abs(layout.width - width) > 1;
  return (
    <div class={`preview${isPlaying ? ' is-playing' : ''}`}>
      <div class="toolbar preview-bar">
        <ViewMenu view={view} language={language} onChange={setView} />
        {isPlaying ? (
          <Button onPress={() => setPlaying(false)}>{t('editor.preview.stop')}</Button>
        ) : (
          <Button icon="eye" onPress={play}>
            {t('editor.preview.try')}
          </Button>
        )}
      </div>
      {/* Keyboards scroll it. */}
      <div class="preview-scroll" tabIndex={0} role="region" aria-label={t('editor.preview.title')}>
        <div
          ref={sheet}
          class="preview-sheet"
          style={{ maxWidth: view.width && `${view.width}px`, height: isPlaying ? '' : `${height}px` }}
        >
          <iframe
            ref={iframe}
            title={t('editor.preview.title')}
            sandbox="allow-scripts allow-forms"
            referrerpolicy="no-referrer"
            tabIndex={isPlaying ? 0 : -1}
          />
          {!isPlaying && layout !== undefined && (
            <Overlay
              {...{ tree, layout, isStale, selectedId }}
              onSelect={props.onSelect}
              onPoint={(x, y) => link.current?.post({ type: 'open', x, y })}
              insertItems={props.insertItems}
            />
          )}
        </div>
      </div>
    </div>
  );
}

type LaidOut = Layout & { width: number; content: StepContent };

/** Keeps the frame like the editor. */
function useFrame(frameUrl: string, shown: { look: Look; content: StepContent; isPlaying: boolean }) {
  const iframe = useRef<HTMLIFrameElement>(null);
  const link = useRef<FrameLink | null>(null);
  const latest = useRef(shown);
  /** The number of steps that were sent. */
  const sent = useRef(0);
  const [layout, setLayout] = useState<LaidOut>();
  const [height, setHeight] = useState(0);
  latest.current = shown;
  const sendStep = () => {
    sent.current += 1;
    link.current?.post({ type: 'step', revision: sent.current, content: latest.current.content });
  };
  useEffect(() => {
    if (iframe.current === null) return undefined;
    const onMessage = (message: FromEditFrame) => {
      if (message.type === 'height') setHeight(message.height);
      else if (message.revision === sent.current) setLayout({ ...message, content: latest.current.content });
    };
    const url = new URL(frameUrl, base).href;
    const connected = connectFrame(iframe.current, url, () => latest.current.look, {
      ready: sendStep,
      message: onMessage,
    });
    link.current = connected;
    return connected.close;
  }, [frameUrl]);
  // Before the browser paints, because authors wait for it.
  useLayoutEffect(() => {
    if (!shown.isPlaying) sendStep();
  }, [shown.content, shown.isPlaying]);
  useLayoutEffect(() => {
    link.current?.post({ type: 'look', ...shown.look });
    if (!shown.isPlaying) sendStep();
  }, [shown.look]);
  return { iframe, link, layout, height };
}

/** Follows the width of an element. */
function useWidth() {
  const sheet = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (sheet.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)));
    observer.observe(sheet.current);
    return () => observer.disconnect();
  }, []);
  return { sheet, width };
}

function ViewMenu({
  view,
  language,
  onChange,
}: {
  view: View;
  language: string;
  onChange: (view: View) => void;
}): JSX.Element {
  const choice = <Name extends keyof View>(name: Name, value: View[Name], label: string): MenuItem => ({
    label,
    isChecked: view[name] === value,
    onSelect: () => onChange({ ...view, [name]: value }),
  });
  const direction = (value: 'ltr' | 'rtl', label: string): MenuItem => ({
    label,
    isChecked: (view.direction ?? textDirection(language)) === value,
    onSelect: () => onChange({ ...view, direction: value }),
  });
  const items = [
    choice('width', undefined, t('editor.preview.full')),
    choice('width', 768, t('editor.preview.tablet')),
    choice('width', 360, t('editor.preview.phone')),
    null,
    choice('scheme', undefined, t('editor.preview.own_scheme')),
    choice('scheme', 'light', t('scheme.light')),
    choice('scheme', 'dark', t('scheme.dark')),
    null,
    direction('ltr', t('editor.preview.ltr')),
    direction('rtl', t('editor.preview.rtl')),
  ];
  return (
    <Menu items={items} buttonClass="button is-plain">
      <span>{t('editor.preview.view')}</span>
      <Icon name="down" />
    </Menu>
  );
}
