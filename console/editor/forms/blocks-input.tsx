import type { JSX } from 'preact';
import { listOf } from '../../../shared/lessons/json-values.ts';
import { Button } from '../../kit/button.tsx';
import { t } from '../../shell/text.ts';
import { isBlock } from '../model/blocks.ts';
import { widgetName } from '../outline/rows.ts';
import { fieldText } from './form.ts';
import type { PropsOf } from './form.ts';

/** The blocks inside a block, which the outline and the preview change. */
export function BlocksInput({ form, field, path }: PropsOf<'blocks'>): JSX.Element {
  const value = listOf(form.get(path));
  const lists = field.inColumns ? value.map(listOf) : [value];
  return (
    <div class="field">
      <span class="label">{fieldText(field.label)}</span>
      {lists.map((blocks, index) => (
        <div key={index} class="inner-blocks">
          {field.inColumns && <p class="help">{t('editor.form.column', { number: index + 1 })}</p>}
          {blocks.filter(isBlock).map(({ type, props }) => (
            <Button key={props.id} icon="open" onPress={() => form.onOpenBlock(props.id)}>
              {widgetName(type)}
            </Button>
          ))}
          {blocks.length === 0 && <p class="muted">{t('editor.form.no_blocks')}</p>}
        </div>
      ))}
      {field.inColumns && (
        <div class="toolbar">
          <Button icon="plus" onPress={() => form.set([path, [...value, []]])}>
            {t('editor.form.add_column')}
          </Button>
          {lists.length > 1 && lists.at(-1)?.length === 0 && (
            <Button onPress={() => form.set([path, value.slice(0, -1)])}>
              {t('editor.form.delete_column')}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}
