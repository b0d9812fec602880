import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../kit/button.tsx';
import { TextField } from '../../kit/field.tsx';
import { CodeBlock } from '../../kit/parts.tsx';
import { messageOf } from '../../kit/toast.tsx';
import { exactTime } from '../../kit/time.tsx';
import type { SignedToken } from '../../api-types.ts';
import { base, request } from '../../shell/api.ts';
import type { PageProps } from '../../shell/page.tsx';
import { can } from '../../shell/session.ts';
import { t } from '../../shell/text.ts';
import { LessonFrame } from '../lesson/frame.tsx';

/** How to show a lesson on another page, and a token to try it. */
export default function EmbedPage({ params: { lessonId = '' } }: { params: PageProps }): JSX.Element {
  return (
    <LessonFrame lessonId={lessonId}>
      {() => (
        <div class="columns">
          <section class="card">
            <h2>{t('embed.snippet')}</h2>
            <p class="muted">{t('embed.snippet_text')}</p>
            <CodeBlock label={t('embed.snippet')} code={pageSnippet(lessonId)} />
          </section>
          <section class="card">
            <h2>{t('embed.token')}</h2>
            <p class="muted">{t('embed.token_text')}</p>
            <CodeBlock label={t('embed.token')} code={tokenSnippet(lessonId)} />
          </section>
          {can('tokens') && <TokenTester lessonId={lessonId} />}
        </div>
      )}
    </LessonFrame>
  );
}

function pageSnippet(lessonId: string): string {
  return `<div data-lectern-embed="${lessonId}"
     data-token="TOKEN"></div>
<script src="${base}/embed.js"></script>`;
}

function tokenSnippet(lessonId: string): string {
  return `curl "${base}/api/public/sign-token" \\
  -H "Authorization: Bearer $CREDENTIALS" \\
  -H "Content-Type: application/json" \\
  -d '{"lessonId": "${lessonId}",
       "learnerId": "LEARNER"}'`;
}

/** Signs a token for a learner, and opens the lesson with it. */
function TokenTester({ lessonId }: { lessonId: string }): JSX.Element {
  const [learnerId, setLearnerId] = useState('console-test');
  const [error, setError] = useState<string>();
  const [signed, setSigned] = useState<SignedToken>();
  const sign = async () => {
    setError(undefined);
    try {
      setSigned(await request('POST /api/public/sign-token', { body: { lessonId, learnerId } }));
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  return (
    <section class="card">
      <h2>{t('embed.try')}</h2>
      <p class="muted">{t('embed.try_text')}</p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void sign();
        }}
      >
        <TextField
          label={t('embed.learner')}
          help={t('embed.learner_help')}
          error={error}
          value={learnerId}
          onInput={setLearnerId}
        />
        <div class="toolbar">
          <Button kind="primary" onPress={sign}>
            {t('embed.sign')}
          </Button>
          {signed && (
            <a
              class="button is-plain"
              href={`${base}/embed/${lessonId}?token=${signed.token}`}
              target="_blank"
            >
              {t('embed.open')}
            </a>
          )}
        </div>
      </form>
      {signed && (
        <>
          <p class="muted">{t('embed.expires', { time: exactTime(new Date(signed.expiresAt)) })}</p>
          <CodeBlock label={t('embed.token_result')} code={signed.token} />
        </>
      )}
    </section>
  );
}
