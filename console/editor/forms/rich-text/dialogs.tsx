import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ActionDialog } from '../../../kit/dialog.tsx';
import { Checkbox, Field, TextField } from '../../../kit/field.tsx';
import { t } from '../../../shell/text.ts';
import { FormulaPreview } from '../formula.tsx';

/** Asks for the address of a link; an empty one removes the link. */
export function LinkDialog({
  href: given,
  onDone,
  onClose,
}: {
  href: string;
  onDone: (href: string) => void;
  onClose: () => void;
}): JSX.Element {
  const [href, setHref] = useState(given);
  return (
    <ActionDialog
      title={t('editor.form.link')}
      action={t('editor.form.apply')}
      onClose={onClose}
      onAction={() =>
        Promise.resolve(
          onDone(/^[\w-]+(\.[\w-]+)+([/?#]|$)/.test(href.trim()) ? `https://${href.trim()}` : href.trim()),
        )
      }
    >
      <TextField
        label={t('editor.form.address')}
        help={t('editor.form.address_help')}
        value={href}
        onInput={setHref}
        autoFocus
      />
    </ActionDialog>
  );
}

export interface Formula {
  tex: string;
  display: boolean;
}

/** Asks for the TeX of a formula, and shows the formula. */
export function FormulaDialog({
  formula,
  onDone,
  onClose,
}: {
  formula: Formula;
  onDone: (formula: Formula) => void;
  onClose: () => void;
}): JSX.Element {
  const [{ tex, display }, setFormula] = useState(formula);
  return (
    <ActionDialog
      title={t('editor.form.formula')}
      action={t('editor.form.apply')}
      isDisabled={tex.trim() === ''}
      onClose={onClose}
      onAction={() => Promise.resolve(onDone({ tex: tex.trim(), display }))}
    >
      <Field label="LaTeX" help={t('editor.form.latex_help')}>
        {(control) => (
          <textarea
            {...control}
            class="input is-code"
            dir="ltr"
            rows={3}
            spellcheck={false}
            value={tex}
            onInput={({ currentTarget }) => setFormula({ tex: currentTarget.value, display })}
          />
        )}
      </Field>
      <Checkbox
        label={t('editor.form.own_line')}
        isChecked={display}
        onChange={(isChecked) => setFormula({ tex, display: isChecked })}
      />
      <FormulaPreview tex={tex} display={display} />
    </ActionDialog>
  );
}

export interface Picture {
  src: string;
  alt: string | undefined;
}

/** Asks for what a picture shows: a description, or that it only decorates. */
export function PictureDialog({
  picture,
  onDone,
  onClose,
}: {
  picture: Picture;
  onDone: (picture: Picture) => void;
  onClose: () => void;
}): JSX.Element {
  const [src, setSrc] = useState(picture.src);
  const [alt, setAlt] = useState(picture.alt);
  return (
    <ActionDialog
      title={t('editor.form.picture')}
      action={t('editor.form.apply')}
      isDisabled={src.trim() === '' || alt === undefined}
      onClose={onClose}
      onAction={() => Promise.resolve(onDone({ src: src.trim(), alt }))}
    >
      <TextField label={t('editor.form.address')} type="text" value={src} onInput={setSrc} />
      <AltField alt={alt} onChange={setAlt} />
    </ActionDialog>
  );
}

/** What a picture shows: undefined until the author has said it, '' for one that decorates. */
export function AltField({
  alt,
  error,
  onChange,
}: {
  alt: string | undefined;
  error?: string | undefined;
  onChange: (alt: string | undefined) => void;
}): JSX.Element {
  return (
    <>
      {alt !== '' && (
        <TextField
          label={t('editor.form.alt')}
          help={t('editor.form.alt_help')}
          error={error}
          value={alt ?? ''}
          onInput={(text) => onChange(text === '' ? undefined : text)}
        />
      )}
      <Checkbox
        label={t('editor.form.decorative')}
        help={t('editor.form.decorative_help')}
        isChecked={alt === ''}
        onChange={(isChecked) => onChange(isChecked ? '' : undefined)}
      />
    </>
  );
}
