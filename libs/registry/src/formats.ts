/**
 * The formats that are checked. JSON Schema makes `format` a remark unless the validator says otherwise; publishing
 * refuses every other format, so that no contract relies on a check that nobody makes.
 */
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number);
  if (!month || !day || month > 12 || year === undefined) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= (month === 2 && !leap ? 28 : LENGTHS[month - 1]!);
}

function isDateTime(text: string): boolean {
  const parts = DATE_TIME.exec(text);
  return (
    parts !== null && isDate(parts[1]!) && Number(parts[2]) < 24 && Number(parts[3]) < 60 && Number(parts[4]) <= 60
  );
}

export const FORMATS: Readonly<Record<string, RegExp | ((text: string) => boolean)>> = {
  date: isDate,
  'date-time': isDateTime,
  email: /^[^\s@"(),:;<>[\\\]]+@[a-z0-9-]+(\.[a-z0-9-]+)+$/i,
  uri: (text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text),
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
};
