import { element, uniqueId } from '../../dom.ts';
import type { WidgetContext } from '../../widget.ts';
import { wrappingSelect } from '../../wrapping-select.ts';
import { message } from '../../../shared/i18n/message.ts';

/**
 * Makes the captions of a sound recording, which browsers show for videos only: a line with the current captions, and a
 * choice of languages. A track that fails to load disappears from the choice.
 */
export function captionLine(tracks: readonly HTMLTrackElement[], context: WidgetContext): HTMLElement {
  const { language } = context;
  const id = uniqueId();
  const line = element('p', { class: 'lectern-caption-line', dir: 'auto' });
  const choice = element('select', { class: 'lectern-caption-choice', id });
  choice.append(element('option', { value: '' }, message(language, 'widget.captionsOff')));
  tracks.forEach((track, index) =>
    choice.append(element('option', { value: String(index), selected: track.default }, track.label)),
  );
  const { box, showChosen } = wrappingSelect(choice);
  const view = element(
    'div',
    { class: 'lectern-audio-captions' },
    line,
    element('label', { class: 'lectern-label', for: id }, message(language, 'widget.captions')),
    box,
  );

  function show(): void {
    const shown = tracks[Number(choice.value || -1)];
    for (const { track } of tracks) track.mode = track === shown?.track ? 'hidden' : 'disabled';
    line.hidden = !shown;
    line.lang = shown?.srclang ?? '';
    showCues();
  }

  function showCues(): void {
    const cues = tracks[Number(choice.value || -1)]?.track.activeCues;
    // As text, because caption files are untrusted, too.
    line.textContent = [...(cues ?? [])].map((cue) => plainText(cue as VTTCue)).join('\n');
  }

  tracks.forEach((track, index) => {
    track.track.addEventListener('cuechange', showCues);
    track.addEventListener('error', () => {
      choice.querySelector(`[value="${index}"]`)?.remove();
      showChosen();
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
