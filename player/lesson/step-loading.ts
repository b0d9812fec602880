import { backoffMs } from '../../shared/platform/backoff.ts';
import { message } from '../../shared/i18n/message.ts';
import { element } from '../dom.ts';
import { StepGone } from './step-source.ts';
import type { StepView } from './step-view.ts';

/** Faster loading shows no text, because a flashing text distracts. */
const quietMs = 300;
const backoff = { firstMs: 1000, maxMs: 30_000 };

/**
 * Shows that a step is loading, in place of its blocks. If that fails, it says so, and retries with backoff, when the
 * browser is online again, and when the learner wants to.
 *
 * @param options.onFailed called at the first failure
 * @param options.onLoaded called once: show the step now
 */
export function showLoading(
  parent: HTMLElement,
  options: {
    language: string;
    load(this: void): Promise<void>;
    onFailed(this: void, cause: unknown): void;
    onLoaded(this: void): void;
  },
): StepView {
  const { language } = options;
  const body = element('div', { class: 'lectern-step-body lectern-step-loading', 'aria-busy': 'true' });
  const status = element('p', { class: 'lectern-loading', role: 'status' });
  const retry = element(
    'button',
    { class: 'lectern-button lectern-is-quiet', type: 'button', hidden: true },
    message(language, 'lesson.tryAgain'),
  );
  body.append(status, retry);
  parent.append(body);
  let timer = setTimeout(() => say('lesson.loading'), quietMs);
  let failures = 0;
  let isLoading = false;
  let isAlive = true;

  /** Does not set an equal text again, because screen readers would announce it at every retry. */
  function say(key: 'lesson.loading' | 'lesson.stepGone' | 'lesson.stepNotLoaded'): void {
    const text = message(language, key);
    if (status.textContent !== text) status.textContent = text;
  }

  async function attempt(): Promise<void> {
    if (isLoading || !isAlive) return;
    isLoading = true;
    if (failures > 0) clearTimeout(timer);
    const error: unknown = await options.load().then(
      () => null,
      (cause: unknown) => cause,
    );
    isLoading = false;
    if (error === null) loaded();
    else fail(error);
  }

  function loaded(): void {
    if (isAlive) options.onLoaded();
  }

  function fail(error: unknown): void {
    if (!isAlive) return;
    clearTimeout(timer);
    body.setAttribute('aria-busy', 'false');
    if (failures === 0) options.onFailed(error);
    const isGone = error instanceof StepGone;
    say(isGone ? 'lesson.stepGone' : 'lesson.stepNotLoaded');
    retry.hidden = isGone;
    if (isGone) return;
    timer = setTimeout(() => void attempt(), backoffMs(backoff, failures));
    failures += 1;
  }

  function retryNow(): void {
    if (!retry.hidden) void attempt();
  }

  retry.addEventListener('click', () => {
    say('lesson.loading');
    retryNow();
  });
  addEventListener('online', retryNow);
  void attempt();
  return {
    flush: () => undefined,
    slotOf: () => undefined,
    destroy() {
      isAlive = false;
      clearTimeout(timer);
      removeEventListener('online', retryNow);
      body.remove();
    },
  };
}
