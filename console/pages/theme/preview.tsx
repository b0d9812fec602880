import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { readScheme } from '../../../shared/theme/tokens.ts';
import { Filter } from '../../kit/field.tsx';
import { EmptyState } from '../../kit/parts.tsx';
import { Button } from '../../kit/button.tsx';
import { orToast } from '../../kit/toast.tsx';
import { query, setQuery } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';
import { previewUrl, usePreviewLesson } from './data.ts';

/**
 * A lesson in the player's frame, whose look changes with the form.
 *
 * @param props.css the stylesheet of the theme
 * @param props.scheme what the theme says; the toolbar may show the other one
 * @param props.round changes when a saved logo or font has to be loaded
 */
export function Preview({
  css,
  scheme,
  round,
}: {
  css: string;
  scheme: string | null;
  round: number;
}): JSX.Element {
  const { isLoaded, lessons, chosen, versionId } = usePreviewLesson();
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (chosen === undefined || versionId === undefined) return;
    void orToast(async () => setUrl(await previewUrl(chosen.id, versionId)));
  }, [chosen?.id, versionId, round]);
  const shown = readScheme(query.value.scheme) ?? readScheme(scheme);
  if (chosen === undefined) {
    return isLoaded ? (
      <EmptyState
        icon="eye"
        title={t('theme.none')}
        action={<Button to="/lessons">{t('lessons.title')}</Button>}
      />
    ) : (
      <section />
    );
  }
  return (
    <section class="stack theme-preview">
      <div class="toolbar">
        <Filter
          label={t('delivery.lesson')}
          value={chosen.id}
          options={lessons.map(({ id, title }) => ({ value: id, label: title }))}
          onChange={(lesson) => setQuery({ lesson })}
        />
        <Filter
          label={t('theme.shown')}
          value={readScheme(query.value.scheme) ?? ''}
          options={[
            { value: '', label: t('theme.as_learners') },
            { value: 'light', label: t('scheme.light') },
            { value: 'dark', label: t('scheme.dark') },
          ]}
          onChange={(value) => setQuery({ scheme: value })}
        />
      </div>
      {url !== undefined && <Frame key={url} url={url} css={css} scheme={shown} title={chosen.title} />}
    </section>
  );
}

function Frame({
  url,
  css,
  scheme,
  title,
}: {
  url: string;
  css: string;
  scheme: string | undefined;
  title: string;
}): JSX.Element {
  const frame = useRef<HTMLIFrameElement>(null);
  const look = useRef({ css, scheme });
  look.current = { css, scheme };
  const post = (message: object) =>
    frame.current?.contentWindow?.postMessage({ source: 'lectern', v: 1, ...message }, location.origin);
  const show = () => {
    post({ type: 'theme', css: look.current.css });
    post({ type: 'colorScheme', scheme: look.current.scheme });
  };
  useEffect(() => {
    const greet = ({ source, origin, data }: MessageEvent<{ type?: unknown } | null>) => {
      if (source !== frame.current?.contentWindow || origin !== location.origin) return;
      if (data?.type === 'hello') show();
    };
    addEventListener('message', greet);
    return () => removeEventListener('message', greet);
  }, []);
  useEffect(show, [css, scheme]);
  return <iframe ref={frame} class="theme-frame" src={url} title={t('theme.preview', { title })} />;
}
