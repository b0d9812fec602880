import { z } from 'zod';

/** Schemas that bodies of several features have in common. */
export const uuid = z.guid();
export const time = z.iso.datetime();
export const count = z.int().min(0);
export const jsonObject = z.record(z.string(), z.unknown());
