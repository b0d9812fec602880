import type { ComponentChildren, JSX } from 'preact';
import { t } from '../shell/text.ts';

export interface Bar {
  label: string;
  /** From 0 to 1: the length of the bar. */
  share: number;
  /** What the bar stands for, such as "12 learners". */
  value: string;
  tone?: 'accent' | 'good' | 'bad' | 'warn';
}

/** A chart in a frame, with the same data as a table for everyone who prefers one. */
export function Chart({
  title,
  text,
  columns,
  bars,
  children,
}: {
  title: string;
  text?: ComponentChildren;
  columns: readonly [label: string, value: string];
  bars: readonly Bar[];
  children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="card chart">
      <h2>{title}</h2>
      {text !== undefined && <p class="muted">{text}</p>}
      {children}
      <details>
        <summary>{t('chart.table')}</summary>
        <table class="data">
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars.map(({ label, value }, index) => (
              <tr key={index}>
                <th scope="row">{label}</th>
                <td>{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  );
}

const columnsHeight = 160;

/** Upright bars, for distributions. Its axis has the labels of the bars. */
export function Columns({ bars, label }: { bars: readonly Bar[]; label: string }): JSX.Element {
  const width = 100 / Math.max(1, bars.length);
  const highest = Math.max(...bars.map(({ share }) => share), Number.EPSILON);
  return (
    <div class="columns-chart">
      <svg viewBox={`0 0 100 ${columnsHeight}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {[0.25, 0.5, 0.75, 1].map((line) => (
          <line
            key={line}
            x1="0"
            x2="100"
            y1={columnsHeight * (1 - line) + 0.5}
            y2={columnsHeight * (1 - line) + 0.5}
          />
        ))}
        {bars.map(({ share, value, label: name, tone = 'accent' }, index) => {
          const height = (share / highest) * columnsHeight;
          return (
            <rect
              key={index}
              class={`is-${tone}`}
              x={index * width + width * 0.08}
              y={columnsHeight - height}
              width={width * 0.84}
              height={height}
            >
              <title>{`${name}: ${value}`}</title>
            </rect>
          );
        })}
      </svg>
      <div class="axis" aria-hidden="true">
        {bars.map(({ label: name }, index) => (
          <span key={index}>{name}</span>
        ))}
      </div>
    </div>
  );
}

/** Bars with a label before and a value after each. */
export function Rows({ bars }: { bars: readonly (Bar & { detail?: ComponentChildren })[] }): JSX.Element {
  return (
    <ol class="rows-chart">
      {bars.map(({ label, share, value, tone = 'accent', detail }, index) => (
        <li key={index}>
          <span class="label">{label}</span>
          <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
            <rect class="track" width="100" height="8" rx="1" />
            <rect class={`is-${tone}`} width={Math.max(0, Math.min(1, share)) * 100} height="8" rx="1" />
          </svg>
          <span class="value">{value}</span>
          {detail}
        </li>
      ))}
    </ol>
  );
}
