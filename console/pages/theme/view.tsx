import 'messages:page/theme';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Theme } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Field, SelectField, TextField } from '../../kit/field.tsx';
import { ErrorState } from '../../kit/parts.tsx';
import { messageOf, toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import { PageFrame } from '../../shell/page.tsx';
import { t } from '../../shell/text.ts';
import { palettes } from '../../../shared/theme/tokens.ts';
import { base64Of, cssOf } from './data.ts';
import type { ThemeChanges } from './data.ts';
import { Preview } from './preview.tsx';

const fonts = ['system', 'serif', 'humanist', 'geometric', 'rounded', 'slab'] as const;
const schemes = ['auto', 'light', 'dark'] as const;

/** The look of the organization's lessons, with a lesson that shows it while it changes. */
export default function ThemePage(): JSX.Element {
  const { data, error, reload } = useData('GET /api/organization/theme');
  const [round, setRound] = useState(0);
  return (
    <PageFrame title={t('theme.title')}>
      {error !== undefined && <ErrorState error={error} onRetry={reload} />}
      {data !== undefined && (
        <Editor
          key={round}
          saved={data}
          round={round}
          onSaved={async () => {
            await reload();
            setRound(round + 1);
          }}
        />
      )}
    </PageFrame>
  );
}

function Editor({
  saved,
  round,
  onSaved,
}: {
  saved: Theme;
  round: number;
  onSaved: () => Promise<void>;
}): JSX.Element {
  const { color, scheme, font, radius, logoAlt } = saved;
  const [changes, setChanges] = useState<ThemeChanges>({ color, scheme, font, radius, logoAlt });
  const [error, setError] = useState<string>();
  const set = (more: ThemeChanges) => setChanges({ ...changes, ...more });
  const save = async () => {
    setError(undefined);
    try {
      // Naming the font would remove a font file.
      const { font: chosen, ...others } = changes;
      const body = { ...others, ...(chosen !== font && { font: chosen }) };
      await request('PATCH /api/organization/theme', { body });
      toast(t('theme.saved'));
      await onSaved();
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  return (
    <div class="theme-editor">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <LookFields saved={saved} changes={changes} set={set} />
        <FileFields saved={saved} changes={changes} set={set} />
        {error !== undefined && (
          <p class="error" role="alert">
            {error}
          </p>
        )}
        <div>
          <Button kind="primary" onPress={save}>
            {t('save')}
          </Button>
        </div>
      </form>
      <Preview css={cssOf(saved, changes)} scheme={changes.scheme ?? null} round={round} />
    </div>
  );
}

interface FieldsProps {
  saved: Theme;
  changes: ThemeChanges;
  set: (changes: ThemeChanges) => void;
}

function LookFields({ saved, changes, set }: FieldsProps): JSX.Element {
  const { color = null, scheme = null, font = null, radius = null } = changes;
  const own = { value: '' as const, label: t('theme.own') };
  return (
    <>
      <Field label={t('theme.color')} help={t('theme.color_help')}>
        {(control) => (
          <div class="toolbar">
            <input
              {...control}
              class="color-well"
              type="color"
              value={color ?? palettes.light.accent}
              onInput={({ currentTarget }) => set({ color: currentTarget.value })}
            />
            <code>{color ?? t('theme.own')}</code>
            {color !== null && (
              <Button kind="quiet" onPress={() => set({ color: null })}>
                {t('theme.reset')}
              </Button>
            )}
          </div>
        )}
      </Field>
      <SelectField
        label={t('theme.scheme')}
        value={scheme ?? ''}
        options={[
          own,
          ...schemes.map((value) => ({ value, label: t(`scheme.${value === 'auto' ? 'device' : value}`) })),
        ]}
        onChange={(value) => set({ scheme: value === '' ? null : value })}
      />
      <SelectField
        label={t('theme.font')}
        value={font ?? ''}
        options={[
          saved.fontFile === null ? own : { value: '' as const, label: t('theme.font_file') },
          ...fonts.map((value) => ({ value, label: t(`theme.font_${value}`) })),
        ]}
        onChange={(value) => set({ font: value === '' ? null : value })}
      />
      <Field label={t('theme.radius', { pixels: radius ?? 10 })}>
        {(control) => (
          <div class="toolbar">
            <input
              {...control}
              type="range"
              min={0}
              max={24}
              value={radius ?? 10}
              onInput={({ currentTarget }) => set({ radius: Number(currentTarget.value) })}
            />
            {radius !== null && (
              <Button kind="quiet" onPress={() => set({ radius: null })}>
                {t('theme.reset')}
              </Button>
            )}
          </div>
        )}
      </Field>
    </>
  );
}

function FileFields({ saved, changes, set }: FieldsProps): JSX.Element {
  const choose = (name: 'logo' | 'fontFile', file: File | undefined) => {
    if (file !== undefined) void base64Of(file).then((bytes) => set({ [name]: bytes }));
  };
  const hasLogo = changes.logo === undefined ? saved.logo !== null : changes.logo !== null;
  const hasFont = changes.fontFile === undefined ? saved.fontFile !== null : changes.fontFile !== null;
  return (
    <>
      <Field label={t('theme.logo')} help={t('theme.logo_help')}>
        {(control) => (
          <div class="toolbar">
            <input
              {...control}
              type="file"
              accept="image/png,image/jpeg,image/webp"
              onChange={({ currentTarget }) => choose('logo', currentTarget.files?.[0])}
            />
            {hasLogo && (
              <Button kind="quiet" onPress={() => set({ logo: null })}>
                {t('theme.reset')}
              </Button>
            )}
          </div>
        )}
      </Field>
      {hasLogo && (
        <TextField
          label={t('theme.logo_alt')}
          value={changes.logoAlt ?? ''}
          onInput={(text) => set({ logoAlt: text === '' ? null : text })}
        />
      )}
      <Field label={t('theme.font_file')} help={t('theme.font_file_help')}>
        {(control) => (
          <div class="toolbar">
            <input
              {...control}
              type="file"
              accept=".woff2,.woff,.ttf,.otf"
              onChange={({ currentTarget }) => choose('fontFile', currentTarget.files?.[0])}
            />
            {hasFont && (
              <Button kind="quiet" onPress={() => set({ fontFile: null })}>
                {t('theme.reset')}
              </Button>
            )}
          </div>
        )}
      </Field>
    </>
  );
}
