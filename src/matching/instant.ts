import { Piece, writeTwoDigits } from './write-bytes.js';

const dayMs = 86_400_000;
const form = new Piece('0000-00-00T00:00:00.000Z');
const scratch = Buffer.alloc(form.length);
const scratchView = new DataView(scratch.buffer, scratch.byteOffset, scratch.length);

/** Milliseconds since 1970 as `Date.toISOString` writes them in the years 1970 to 9999, in a small part of its time. */
export function instantText(time: number): string {
  writeInstant(time, scratchView, 0);
  return scratch.toString('latin1');
}

/** The same into the bytes from `at` on; returns where it ends. */
export function writeInstant(time: number, bytes: DataView, at: number): number {
  const end = form.write(bytes, at);
  const day = Math.floor(time / dayMs);
  writeDate(day, bytes, at);
  // Integers are told to be such: division of others takes several times as long.
  const ms = (time - day * dayMs) | 0;
  const seconds = (ms / 1_000) | 0;
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  writeTwoDigits(hours, bytes, at + 11);
  writeTwoDigits(minutes - hours * 60, bytes, at + 14);
  writeTwoDigits(seconds - minutes * 60, bytes, at + 17);
  const thousandths = ms - seconds * 1_000;
  const hundredths = (thousandths / 10) | 0;
  writeTwoDigits(hundredths, bytes, at + 20);
  bytes.setUint8(at + 22, 0x30 + thousandths - hundredths * 10);
  return end;
}

/** Years begin in March here, so that a leap day is the last of its year; a cycle is four hundred years. */
function writeDate(day: number, bytes: DataView, at: number): void {
  const sinceMarch = (day + 719_468) | 0;
  const cycle = (sinceMarch / 146_097) | 0;
  const ofCycle = sinceMarch - cycle * 146_097;
  const leapDays = ((ofCycle / 1_460) | 0) - ((ofCycle / 36_524) | 0) + ((ofCycle / 146_096) | 0);
  const yearOfCycle = ((ofCycle - leapDays) / 365) | 0;
  const ofYear = ofCycle - (365 * yearOfCycle + (yearOfCycle >> 2) - ((yearOfCycle / 100) | 0));
  const month = ((5 * ofYear + 2) / 153) | 0;
  const year = yearOfCycle + cycle * 400 + (month < 10 ? 0 : 1);
  const century = (year / 100) | 0;
  writeTwoDigits(century, bytes, at);
  writeTwoDigits(year - century * 100, bytes, at + 2);
  writeTwoDigits(month < 10 ? month + 3 : month - 9, bytes, at + 5);
  writeTwoDigits(ofYear - (((153 * month + 2) / 5) | 0) + 1, bytes, at + 8);
}
