import { element, uniqueId } from '../../dom.ts';
import type { WidgetContext } from '../../widget.ts';
import { message } from '../../../shared/i18n/message.ts';

/**
 * The captions of a recording, which browsers show for videos only: a line with what is said at the moment, and a
 * choice of the language. A track that goes takes its language with it.
 */
export function captionLine(tracks: readonly HTMLTrackElement[], context: WidgetContext): HTMLElement {
  const { language } = context;
  const id = uniqueId();
  const line = element('p', { class: 'lectern-caption-line', dir: 'auto' });
  const choice = element('select', { class: 'lectern-caption-choice', id });
  choice.append(element('option', { value: '' }, message(language, 'widget.captionsOff')));
  const view = element(
    'div',
    { class: 'lectern-audio-captions' },
    line,
    element('label', { class: 'lectern-label', for: id }, message(language, 'widget.captions')),
    choice,
  );

  function show(): void {
    const shown = tracks[Number(choice.value || -1)];
    for (const { track } of tracks) track.mode = track === shown?.track ? 'hidden' : 'disabled';
    line.hidden = !shown;
    line.lang = shown?.srclang ?? '';
    say();
  }

  function say(): void {
    const cues = tracks[Number(choice.value || -1)]?.track.activeCues;
    // As text: a caption file is foreign too.
    line.textContent = [...(cues ?? [])].map((cue) => plainText(cue as VTTCue)).join('\n');
  }

  tracks.forEach((track, index) => {
    const option = element('option', { value: String(index), selected: track.default }, track.label);
    choice.append(option);
    track.track.addEventListener('cuechange', say);
    track.addEventListener('error', () => {
      option.remove();
      view.hidden = choice.options.length < 2;
      show();
    });
  });
  choice.addEventListener('change', show);
  show();
  return view;
}

function plainText(cue: VTTCue): string {
  return cue.getCueAsHTML().textContent;
}
