import { addStyle, attribute, mathElement, parts, row, textOf } from './mathml-tree.ts';
import type { MathElement } from './mathml-tree.ts';

/** A row of an elementary calculation. Columns count from 0 for units, up to the left and down to the right. */
interface StackRow {
  /** From left to right. */
  cells: MathElement[];
  /** The column of the last cell. */
  right: number;
  /** A line below the row: its rightmost column and its length, 0 for the whole width. */
  line?: { right: number; length: number };
}

/** A larger calculation is not for readers. */
const maxCells = 10_000;

/** Turns an elementary calculation, such as a written addition, into a table with a digit in each cell. */
export function convertStack(stack: MathElement, problems: Set<string>): MathElement {
  const align = attribute(stack, 'stackalign') ?? 'decimalpoint';
  if (align === 'left' || align === 'center') problems.add(`<mstack stackalign="${align}">`);
  const rows = rowsOf(parts(stack), 0, align !== 'right');
  return tableOf(rows, problems) ?? stack;
}

/** Turns a written division into a table: divisor and dividend below the result, and then the steps. */
export function convertLongDivision(division: MathElement, problems: Set<string>): MathElement {
  const [divisor, result, dividend, ...steps] = parts(division);
  if (divisor === undefined || result === undefined || dividend === undefined) return division;
  const isNone = result.tagName === 'none';
  const rows = rowsOf(
    [isNone ? mathElement('mrow') : result, mathElement('msline'), dividend, ...steps],
    0,
    true,
  );
  const before = row([divisor, mathElement('mo', { stretchy: 'false' }, [')'])]);
  return tableOf(rows, problems, { row: 1, cell: before }) ?? division;
}

function rowsOf(children: MathElement[], position: number, byPoint: boolean): StackRow[] {
  const rows: StackRow[] = [];
  for (const child of children) {
    const shift = position + integer(attribute(child, 'position'));
    if (child.tagName === 'msline') {
      const line = { right: shift, length: integer(attribute(child, 'length')) };
      const above = rows.at(-1);
      if (above === undefined) rows.push({ cells: [], right: 0, line });
      else above.line = line;
    } else if (child.tagName === 'msgroup') {
      const step = integer(attribute(child, 'shift'));
      for (const [index, part] of parts(child).entries()) {
        for (const inner of rowsOf([part], shift + index * step, byPoint)) rows.push(inner);
      }
    } else {
      const { cells, decimals } = cellsOf(child);
      rows.push({ cells, right: shift - (byPoint ? decimals : 0) });
    }
  }
  return rows;
}

/** Splits a row into its digits. A decimal point stays with the digit before it. */
function cellsOf(child: MathElement): { cells: MathElement[]; decimals: number } {
  if (child.tagName === 'mscarries') {
    const cells = parts(child).map((carry) =>
      carry.tagName === 'none'
        ? mathElement('mrow')
        : mathElement('mstyle', { mathsize: '70%' }, [
            carry.tagName === 'mscarry' ? row(parts(carry)) : carry,
          ]),
    );
    return { cells, decimals: 0 };
  }
  if (child.tagName !== 'mn') {
    if (child.tagName !== 'msrow') return { cells: [child], decimals: 0 };
    const all = parts(child).map(cellsOf);
    return { cells: all.flatMap(({ cells }) => cells), decimals: all.at(-1)?.decimals ?? 0 };
  }
  const digits = textOf(child).match(/\p{Nd}[.,]?|\S/gu) ?? [];
  const point = digits.findIndex((digit) => /[.,]$/.test(digit));
  const cells = digits.map((digit) => mathElement('mn', {}, [digit]));
  return { cells, decimals: point < 0 ? 0 : digits.length - 1 - point };
}

/** @param before what stands to the left of a row */
function tableOf(
  rows: StackRow[],
  problems: Set<string>,
  before?: { row: number; cell: MathElement },
): MathElement | undefined {
  const left = Math.max(0, ...rows.map(({ right, cells }) => right + cells.length - 1));
  const right = Math.min(0, ...rows.map((one) => one.right));
  if (rows.length * (left - right + 1) > maxCells) {
    problems.add('a calculation with too many digits');
    return undefined;
  }
  const tableRows = rows.map(({ cells, right: last, line }, index) => {
    const tableCells: MathElement[] = [];
    if (before !== undefined) tableCells.push(cellWith(before.row === index ? [before.cell] : []));
    for (let column = left; column >= right; column -= 1) {
      const content = cells[cells.length - 1 - (column - last)];
      const cell = cellWith(content === undefined ? [] : [content]);
      const isUnder =
        line !== undefined &&
        (line.length === 0 || (column >= line.right && column < line.right + line.length));
      if (isUnder) addStyle(cell, 'border-bottom:0.067em solid;');
      tableCells.push(cell);
    }
    return mathElement('mtr', {}, tableCells);
  });
  return mathElement('mtable', {}, tableRows);
}

function cellWith(content: MathElement[]): MathElement {
  return mathElement('mtd', { style: 'padding:0.1em 0.12em;' }, content);
}

function integer(text: string | undefined): number {
  const value = Number(text ?? '0');
  return Number.isInteger(value) && Math.abs(value) <= 100 ? value : 0;
}
