/** The polynomial of CRC-32 (ISO 3309), bits reversed. */
const polynomial = 0xedb88320;
const one = 0x80000000;

/** `squares[n]` is x to the power of 2 to the power of n, modulo the polynomial. */
const squares = [one >>> 1];
for (let n = 1; n < 32; n += 1) squares.push(multiply(squares[n - 1] ?? 0, squares[n - 1] ?? 0));

/**
 * Returns the CRC-32 of two texts together, from the CRC-32 of each, without reading them: the first is multiplied by
 * x to the power of the second text's bits.
 *
 * @param bytes size of the second text.
 */
export function combineCrc32(first: number, second: number, bytes: number): number {
  let shift = one;
  let bits = bytes;
  // The power of two of a byte's bits is 3.
  for (let n = 3; bits > 0; n += 1, bits = Math.floor(bits / 2)) {
    if (bits % 2 === 1) shift = multiply(squares[n % 32] ?? 0, shift);
  }
  return (multiply(shift, first) ^ second) >>> 0;
}

/** Multiplies two polynomials modulo the CRC's; the highest bit is the coefficient of x to the power of 0. */
function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let bit = one; bit > 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= factor;
    factor = (factor & 1) === 1 ? (factor >>> 1) ^ polynomial : factor >>> 1;
  }
  return product >>> 0;
}
