// Reads an Arrow file with apache-arrow and turns its rows into the JSON that values.h describes. Goes
// to the buffers themselves, since the library's getters round timestamps.
import { readFileSync } from 'fs';

const unitsPerSecond = [1n, 1000n, 1000000n, 1000000000n];

function hex(bytes) {
  return Buffer.from(bytes).toString('hex');
}

function decimalText(words, scale) {
  let value = 0n;
  for (let i = words.length - 1; i >= 0; i -= 1) value = (value << 32n) | BigInt(words[i] >>> 0);
  const bits = BigInt(32 * words.length);
  if (value >> (bits - 1n)) value -= 1n << bits;
  const negative = value < 0n;
  let digits = (negative ? -value : value).toString().padStart(scale + 1, '0');
  if (scale > 0) digits = `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  return negative ? `-${digits}` : digits;
}

function timeText(value, unit) {
  const perSecond = unitsPerSecond[unit];
  const seconds = value / perSecond;
  const two = (number) => String(number).padStart(2, '0');
  const text = `${two(seconds / 3600n)}:${two(seconds / 60n % 60n)}:${two(seconds % 60n)}`;
  const rest = value % perSecond;
  if (rest === 0n) return text;
  return `${text}.${String(rest * (1000000000n / perSecond)).padStart(9, '0')}`.replace(/0+$/, '');
}

function floatValue(value) {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value < 0 ? '-Infinity' : 'Infinity';
  return value;
}

function intervalValue(words, unit) {
  if (unit === 0) return { months: String(words[0]), days: '0', micros: '0' };
  if (unit === 1) return { months: '0', days: String(words[0]), micros: String(BigInt(words[1]) * 1000n) };
  const nanos = (BigInt(words[3]) << 32n) | BigInt(words[2] >>> 0);
  return { months: String(words[0]), days: String(words[1]), micros: String(nanos / 1000n) };
}

export function makeReader(arrow) {
  const { DataType, tableFromIPC } = arrow;

  function listValue(data, begin, end) {
    const result = [];
    for (let i = begin; i < end; i += 1) result.push(valueOf(data.children[0], i));
    return result;
  }

  function bytesOf(data, row) {
    return data.values.subarray(Number(data.valueOffsets[row]), Number(data.valueOffsets[row + 1]));
  }

  function valueOf(data, row) {
    const { type, values } = data;
    if (DataType.isNull(type) || !data.getValid(row)) return null;
    if (DataType.isDictionary(type)) return valueOf(data.dictionary.data[0], Number(values[row]));
    if (DataType.isBool(type)) return String(((values[row >> 3] >> (row & 7)) & 1) === 1);
    if (DataType.isInt(type)) return String(values[row]);
    if (DataType.isFloat(type)) return floatValue(type.precision === 0 ? halfValue(values[row]) : values[row]);
    if (DataType.isDecimal(type)) return decimalText(values.subarray(data.stride * row, data.stride * (row + 1)), type.scale);
    if (DataType.isDate(type)) return String(type.unit === 0 ? values[row] : values[row] / 86400000n);
    if (DataType.isTime(type)) return timeText(BigInt(values[row]), type.unit);
    if (DataType.isTimestamp(type)) return String(type.unit === 0 ? values[row] * 1000n : values[row]);
    if (DataType.isDuration(type)) return String(values[row]);
    if (DataType.isInterval(type)) return intervalValue(values.subarray(data.stride * row, data.stride * (row + 1)), type.unit);
    if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return Buffer.from(bytesOf(data, row)).toString('utf8');
    if (DataType.isBinary(type) || DataType.isLargeBinary(type)) return hex(bytesOf(data, row));
    if (DataType.isFixedSizeBinary(type)) return hex(values.subarray(type.byteWidth * row, type.byteWidth * (row + 1)));
    if (DataType.isMap(type)) {
      const [keys, items] = data.children[0].children;
      const result = [];
      for (let i = data.valueOffsets[row]; i < data.valueOffsets[row + 1]; i += 1)
        result.push({ key: valueOf(keys, i), value: valueOf(items, i) });
      return result;
    }
    if (DataType.isFixedSizeList(type)) return listValue(data, type.listSize * row, type.listSize * (row + 1));
    if (DataType.isList(type)) return listValue(data, data.valueOffsets[row], data.valueOffsets[row + 1]);
    if (DataType.isStruct(type))
      return Object.fromEntries(type.children.map((field, i) => [field.name, valueOf(data.children[i], row)]));
    throw new Error(`no reading of ${type}`);
  }

  function halfValue(bits) {
    const sign = bits >> 15 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 0) return sign * fraction * 2 ** -24;
    if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
    return sign * (fraction + 1024) * 2 ** (exponent - 25);
  }

  /// Returns the rows of a file as arrays of values.
  return function readRows(path) {
    const rows = [];
    for (const batch of tableFromIPC(readFileSync(path)).batches)
      for (let row = 0; row < batch.numRows; row += 1)
        rows.push(batch.data.children.map((column) => valueOf(column, row)));
    return rows;
  };
}
