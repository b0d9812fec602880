import { describe, expect, it } from 'vitest';
import { parseNumber, writeNumber } from '../../player/widgets/Numeric/parse-number.ts';
import { useWidgetPage } from './player-lab.ts';

// The languages in CLDR 48, and their countries that write numbers in another way. cspell:disable
const languages = `
  af agq ak am ar ar-BH ar-DJ ar-DZ ar-EG ar-ER ar-IL ar-IQ ar-JO ar-KM ar-KW ar-LB ar-LY ar-MA ar-MR ar-OM
  ar-PS ar-QA ar-SA ar-SD ar-SO ar-SS ar-SY ar-TD ar-TN ar-YE ars as asa ast az ba bas be bem bez bg bgc bho
  blo bm bn bo br brx bs bua ca ccp ce ceb cgg chr ckb cs csw cv cy da dav de de-AT de-CH de-LI dje doi dsb
  dua dyo dz ebu ee el en en-AT en-BE en-CH en-CZ en-DE en-DK en-EE en-ES en-FI en-FR en-GE en-HU en-ID en-IN
  en-IT en-LT en-LV en-NL en-NO en-PL en-PT en-RO en-SE en-SI en-SK en-UA en-ZA eo es es-419 es-BR es-BZ
  es-CR es-CU es-DO es-GT es-HN es-MX es-NI es-PA es-PE es-PR es-SV es-US et eu ewo fa ff ff-Adlm fi fil fo
  fr fr-CA fr-LU fr-MA fur fy ga gaa gd gl gsw gu guz gv ha haw he hi hr hsb hu hy ia id ie ig ii is it it-CH
  ja jgo jmc jv ka kab kam kde kea kgp khq ki kk kk-Arab kk-CN kkj kl kln km kn ko kok ks ks-Deva ksb ksf ksh
  ku ku-IQ kw kxv ky lb lg lij lmo ln lo lrc lt lu luo luy lv mai mas mer mfe mg mgh mi mk ml mn mni mr ms
  ms-BN ms-ID mt mua my mzn naq nb nd nds ne nl nmg nn nnh no nqo nso nus nyn oc om or os pa pa-Arab pa-PK
  pcm pl pms prg ps pt pt-AO pt-CH pt-CV pt-GQ pt-GW pt-LU pt-MO pt-MZ pt-PT pt-ST pt-TL qu qu-BO raj rm rn
  ro rof ru rw rwk sa sah saq sat sbp sc scn sd sd-Deva sd-IN se seh ses sg shi shn si sk sl smn sn so sq sr
  st su sv sw sw-CD syr szl ta ta-MY ta-SG te teo tg th ti tk tn to tok tr tt twq tyv tzm ug uk ur ur-IN uz
  uz-AF uz-Arab vai vec vi vmw vun wae wo xh xnr xog yav yi yo yrl yue zgh zh zu`;
// cspell:enable

const values = [0, 0.125, 999.5, 1234, -1234.5, 123_456.789, -12_345_678.25, 1 / 3, 1.6e-19, -6.022e23];

it('in every language, written numbers are read as the same numbers', () => {
  const tags = languages.trim().split(/\s+/);
  const wrong = tags.flatMap((tag) =>
    values.flatMap((value) => {
      const text = writeNumber(value, tag);
      const read = parseNumber(text, tag, '');
      return read === Number(value.toPrecision(12)) + 0 ? [] : [{ tag, value, text, read }];
    }),
  );
  expect(wrong).toEqual([]);
  expect(tags.length).toBeGreaterThan(300);
});

it('in every language, both decimal signs are read before digits that they cannot group', () => {
  const texts = {
    '0,125': 0.125,
    '0.125': 0.125,
    '-0,125': -0.125,
    '12,5': 12.5,
    '12.5': 12.5,
    '1234,567': 1234.567,
  };
  const wrong = languages
    .trim()
    .split(/\s+/)
    .flatMap((tag) =>
      Object.entries(texts).flatMap(([text, value]) => {
        const read = parseNumber(text, tag, '');
        return read === value ? [] : [{ tag, text, read }];
      }),
    );
  expect(wrong).toEqual([]);
});

describe('a number is read as it is meant, or not at all', () => {
  it.each<[language: string, readings: Record<string, number | undefined>]>([
    [
      'en',
      { '3.4': 3.4, '3,4': 3.4, '1,234': 1234, '-3,400': -3400, '−3,400.5': -3400.5, '+5': 5, '- 5': -5 },
    ],
    ['en', { '1 234,567': 1234.567, "1'234.5": 1234.5, '1’234’567': 1_234_567, '3.141 592 65': 3.14159265 }],
    ['en', { '.5': 0.5, ',5': 0.5, '5.': 5, '1,234.': 1234, '007': 7, '-0': 0, '12 000': 12_000 }],
    [
      'en',
      { '1.2.3': undefined, '12 34': undefined, '1,2,3': undefined, '1,234.5.6': undefined, "5'": undefined },
    ],
    [
      'en',
      { '': undefined, m: undefined, '.': undefined, '-': undefined, '--5': undefined, '5-': undefined },
    ],
    [
      'de',
      { '1.234': 1234, '3.4': 3.4, '0.125': 0.125, '1,234.5': 1234.5, '12.345,6': 12_345.6, '1.234.': 1234 },
    ],
    // A French learner may mean 1.234 or 1234.
    [
      'fr',
      { '1.234': undefined, '1.234,5': 1234.5, '1.2345': 1.2345, '0.125': 0.125, '1.234.567': 1_234_567 },
    ],
    ['de-CH', { '1’234.5': 1234.5, "12'345": 12_345, '1,234': undefined, '1,5': 1.5, '1.234': 1.234 }],
    ['hi', { '12,34,567.5': 1_234_567.5, '१२,३४,५६७.५': 1_234_567.5, '१.२५': 1.25 }],
    ['ar', { '٣٫٤': 3.4, '١٬٢٣٤٫٥': 1234.5, '\u061c-٣٫٤': -3.4, '3,4': 3.4, '٣،٤': 3.4, '١٫٢٣٤': 1.234 }],
    ['fa', { '\u200e−۱۲٫۵': -12.5, '۱٬۲۳۴': 1234 }],
    ['zh', { '１２．５': 12.5, '－３': -3, '3。5': 3.5, '1，234': 1234 }],
    ['not a language', { '7': 7, '1,234.5': 1234.5 }],
    [
      'en',
      {
        '3/4': 0.75,
        '-3/4': -0.75,
        '1 1/2': 1.5,
        '-1 1/2': -1.5,
        '1 ½': 1.5,
        '1½': 1.5,
        '½': 0.5,
        '−2¾': -2.75,
      },
    ],
    ['en', { '1/0': undefined, '0/0': undefined, '1/2/3': undefined, '½½': undefined, '1 3/2': undefined }],
    // The mixed number 1 + 100/250 or the fraction 1,100/250.
    ['en', { '1 100/250': undefined, '1 000/250': undefined, '1.5 1/2': undefined }],
    ['en', { '1,602e-19': 1.602e-19, '-1.6*10**-19': -1.6e-19, '10²': 100, '-10^5': -1e5, '10⁻³': 0.001 }],
    [
      'de',
      { '1,6·10^-19': 1.6e-19, '1.602·10^-19': 1.602e-19, '6,022e23': 6.022e23, '1.234.567e3': 1_234_567e3 },
    ],
    [
      'en',
      {
        $5: 5,
        '-$5': -5,
        '5 $': 5,
        '€ 1,234.50': 1234.5,
        '5€': 5,
        $: undefined,
        '5 %': undefined,
        '5 kg': undefined,
      },
    ],
  ])('in %s: %j', (language, readings) => {
    const texts = Object.keys(readings);
    expect(Object.fromEntries(texts.map((text) => [text, parseNumber(text, language, '')]))).toEqual(
      readings,
    );
  });

  it.each<[unit: string, readings: Record<string, number | undefined>]>([
    [
      'm',
      {
        '2.4 m': 2.4,
        '2.4m.': 2.4,
        '1 ½ m': 1.5,
        '5 cm': undefined,
        '5 M': undefined,
        '2.4': 2.4,
        m: undefined,
      },
    ],
    ['MW', { '5 MW': 5, '5 mW': undefined }],
    ['m²', { '3 m²': 3, '3 m2': 3, '3 m^2': 3, '10² m²': 100 }],
    ['kg/m³', { '1.2 kg / m³': 1.2, '1,000 kg/m3': 1000, '3/4 kg/m³': 0.75 }],
    ['%', { '5 %': 5, '5%': 5, '٥٪': 5, '%5': 5, '5 ‰': undefined }],
    ['°C', { '−5 °C': -5, '−5℃': -5 }],
  ])('with the unit %s: %j', (unit, readings) => {
    const texts = Object.keys(readings);
    expect(Object.fromEntries(texts.map((text) => [text, parseNumber(text, 'en', unit)]))).toEqual(readings);
  });
});

describe('a question that asks for a number', () => {
  const { view, page } = useWidgetPage();
  const lastReport = async () => (await view.reports()).at(-1);

  it('a number is read as the lesson’s language writes it, and appears so again', async () => {
    const block = {
      type: 'Numeric',
      props: { id: 'n', prompt: 'Wie hoch?', correct: 1234.5, unit: 'm', attempts: 1 },
    };
    await view.show([block], { language: 'de' });
    // Screen readers say the unit with the field.
    const description = `[...document.querySelector('input').getAttribute('aria-describedby').split(' ')].map((id) => document.getElementById(id).textContent)`;
    expect(await page.evaluate<string[]>(description)).toContain('m');
    await page.getByRole('textbox').fill('viel');
    await page.keyboard.press('Enter');
    expect(await page.getByText('Gib eine Zahl ein, zum Beispiel 12,5.').count()).toBe(1);
    await page.getByRole('textbox').fill('1.234,5 m');
    await page.keyboard.press('Enter');
    expect(await lastReport()).toEqual({ id: 'n', value: 1234.5, result: { score: 1, maxScore: 1 } });
    await view.show([block], { language: 'en', states: { n: 1200.25 }, tries: { n: 1 } });
    expect(await page.getByRole('textbox').inputValue()).toBe('1200.25');
    expect(await page.getByText('Correct answer: 1234.5').count()).toBe(1);
  });

  it('resumes with the stored number, whatever the language writes', async () => {
    const show = (language: string, state: number, correct: number) =>
      view.show([{ type: 'Numeric', props: { id: 'n', correct } }], {
        language,
        states: { n: state },
        tries: { n: 1 },
      });
    for (const language of ['ar', 'ar-EG', 'fa', 'he', 'hi', 'fr', 'de-CH', 'sv', 'en']) {
      await show(language, -1 / 3, -1 / 3);
      expect(await page.locator('.lectern-verdict').count(), language).toBe(1);
      expect(await page.locator('.lectern-feedback.lectern-is-right').count(), language).toBe(1);
    }
    // More digits than the page shows: checking the unchanged answer would waste a try.
    await show('fr', 0.123_456_789_012_345, 0.5);
    await page.getByRole('button', { name: 'Réessayer' }).click();
    await page.keyboard.press('Enter');
    expect(await view.reports()).toEqual([]);
  });

  it('asks again, without using a try, for a text that could be two numbers', async () => {
    await view.show([{ type: 'Numeric', props: { id: 'n', correct: 1.234, attempts: 1 } }], {
      language: 'fr',
    });
    await page.getByRole('textbox').fill('1.234');
    await page.keyboard.press('Enter');
    expect(await page.locator('.lectern-feedback').textContent()).toContain('12,5');
    await page.getByRole('textbox').fill('1,234');
    await page.keyboard.press('Enter');
    expect(await view.reports()).toEqual([{ id: 'n', value: 1.234, result: { score: 1, maxScore: 1 } }]);
  });
});
