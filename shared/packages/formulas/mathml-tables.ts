import { addClass, addStyle, mathElement, parts, setChildren, takeAttribute } from './mathml-tree.ts';
import type { MathElement } from './mathml-tree.ts';

/** More places in spans are not for readers. The spans of rows beyond do not count. */
const maxSpanned = 10_000;

interface Cell {
  cell: MathElement;
  row: number;
  column: number;
  /** The last row and column that it covers. */
  lastRow: number;
  lastColumn: number;
}

const lines: Record<string, string> = { solid: '0.06em solid', dashed: '0.06em dashed' };
const alignments: Record<string, string> = { top: 'top', bottom: 'bottom', center: 'middle', axis: 'middle' };

/**
 * Turns the attributes of a table that MathML Core lacks into styles of its cells: alignment, lines, space and frame.
 * A labeled row becomes a row with a further cell.
 */
export function convertTable(table: MathElement): MathElement {
  const side = takeAttribute(table, 'side') ?? 'right';
  moveLabels(table, side === 'left' || side === 'leftoverlap');
  const rows = parts(table).filter(({ tagName }) => tagName === 'mtr');
  const cells = cellsOf(rows);
  const columns = Math.max(0, ...cells.map(({ lastColumn }) => lastColumn));
  alignCells(table, rows, cells);
  const last = { row: rows.length - 1, column: columns };
  drawLines(table, cells, last);
  spaceCells(table, cells, last);
  const frame = lines[takeAttribute(table, 'frame') ?? ''];
  const [space, rowSpace = space] = (takeAttribute(table, 'framespacing') ?? '0.4em 0.5ex').split(/\s+/);
  if (frame !== undefined) {
    const padding =
      lengthOf(space) === undefined || lengthOf(rowSpace) === undefined
        ? ''
        : `padding:${rowSpace} ${space};`;
    addStyle(table, `border:${frame};${padding}`);
  }
  return table;
}

function moveLabels(table: MathElement, isLeft: boolean): void {
  const rows = parts(table);
  if (!rows.some(({ tagName }) => tagName === 'mlabeledtr')) return;
  const converted = rows.map((labeled) => {
    if (labeled.tagName !== 'mlabeledtr') {
      if (isLeft && labeled.tagName === 'mtr')
        setChildren(labeled, [mathElement('mtd'), ...labeled.childNodes]);
      return labeled;
    }
    const [label, ...cells] = parts(labeled);
    const all = label === undefined ? cells : isLeft ? [label, ...cells] : [...cells, label];
    const plain = mathElement('mtr', {}, all);
    plain.attrs = labeled.attrs;
    return plain;
  });
  setChildren(table, converted);
}

/** Finds the places of the cells, among those that span several rows or columns. */
function cellsOf(rows: MathElement[]): Cell[] {
  const taken = new Set<string>();
  return rows.flatMap((tableRow, row) => {
    let column = 0;
    return parts(tableRow).map((cell) => {
      while (taken.has(`${row}:${column}`)) column += 1;
      const lastColumn = column + span(cell, 'columnspan') - 1;
      const wanted = Math.min(row + span(cell, 'rowspan') - 1, rows.length - 1);
      const spanned = (wanted - row) * (lastColumn - column + 1);
      const lastRow = taken.size + spanned > maxSpanned ? row : wanted;
      for (let below = row + 1; below <= lastRow; below += 1) {
        for (let across = column; across <= lastColumn; across += 1) taken.add(`${below}:${across}`);
      }
      const place = { cell, row, column, lastRow, lastColumn };
      column = lastColumn + 1;
      return place;
    });
  });
}

function span(cell: MathElement, name: string): number {
  const value = Number(cell.attrs.find((one) => one.name === name)?.value ?? '1');
  return Number.isInteger(value) && value > 0 && value <= maxSpanned ? value : 1;
}

function alignCells(table: MathElement, rows: MathElement[], cells: Cell[]): void {
  const ofTable = takeList(table, 'columnalign');
  const ofRows = rows.map((tableRow) => takeList(tableRow, 'columnalign'));
  const verticalOfTable = takeList(table, 'rowalign');
  const verticalOfRows = rows.map((tableRow) => takeAttribute(tableRow, 'rowalign'));
  for (const { cell, row, column } of cells) {
    const own = takeAttribute(cell, 'columnalign');
    const across = own ?? at(ofRows[row] ?? [], column) ?? at(ofTable, column);
    // The classes, because browsers need different styles: player/styles/formula.css.
    if (across === 'left' || across === 'right') addClass(cell, `tml-${across}`);
    const up = takeAttribute(cell, 'rowalign') ?? verticalOfRows[row] ?? at(verticalOfTable, row);
    const vertical = alignments[up ?? ''];
    if (vertical !== undefined) addStyle(cell, `vertical-align:${vertical};`);
  }
}

function drawLines(table: MathElement, cells: Cell[], last: { row: number; column: number }): void {
  const between = { columns: takeList(table, 'columnlines'), rows: takeList(table, 'rowlines') };
  for (const { cell, lastRow, lastColumn } of cells) {
    const right = lastColumn < last.column ? lines[at(between.columns, lastColumn) ?? ''] : undefined;
    const bottom = lastRow < last.row ? lines[at(between.rows, lastRow) ?? ''] : undefined;
    if (right !== undefined) addStyle(cell, `border-right:${right};`);
    if (bottom !== undefined) addStyle(cell, `border-bottom:${bottom};`);
  }
}

/** Halves the space between columns and rows, because it belongs to both cells. */
function spaceCells(table: MathElement, cells: Cell[], last: { row: number; column: number }): void {
  const columns = takeList(table, 'columnspacing');
  const rows = takeList(table, 'rowspacing');
  for (const { cell, row, column, lastRow, lastColumn } of cells) {
    const sides: [string, string | undefined][] = [
      ['left', column > 0 ? at(columns, column - 1) : undefined],
      ['right', lastColumn < last.column ? at(columns, lastColumn) : undefined],
      ['top', row > 0 ? at(rows, row - 1) : undefined],
      ['bottom', lastRow < last.row ? at(rows, lastRow) : undefined],
    ];
    for (const [side, space] of sides) {
      const { number, unit } = lengthOf(space) ?? {};
      if (number !== undefined) addStyle(cell, `padding-${side}:${Number((number / 2).toFixed(3))}${unit};`);
    }
  }
}

function lengthOf(text: string | undefined): { number: number; unit: string } | undefined {
  const [, number, unit = ''] = /^(\d*\.?\d+)(em|ex|px|pt)$/.exec(text ?? '') ?? [];
  return number === undefined ? undefined : { number: Number(number), unit };
}

function takeList(element: MathElement, name: string): string[] {
  return (takeAttribute(element, name) ?? '').split(/\s+/).filter(Boolean);
}

/** Returns an entry of a list whose last one also counts for all further places. */
function at(list: string[], index: number): string | undefined {
  return list[index] ?? list.at(-1);
}
