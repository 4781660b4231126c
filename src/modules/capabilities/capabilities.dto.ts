import { CAPABILITY_NAME_MAX } from '../../domain/gate/catalogue.js';
import { HITL_MODES, MODES_MEAN, type HitlMode } from '../../domain/gate/vocabulary.js';
import type { JsonObject } from '../../domain/json.js';
import { FreeObject, Integer, OneOf, Text } from '../../platform/http/fields/fields.js';
import { CONNECTOR } from './document/connector.dto.js';
import { HITL_MODE } from './document/mode-words.js';

const SCHEMA = 'A JSON Schema for the input; what does not fit is refused before anybody is asked.';
const DOES = 'What the service does itself. Without one the agent does the work and reports.';

export class UpdateCapabilityDto {
  @Text({ min: 1, max: 500, optional: true, doc: 'What it does, in one sentence.' })
  description?: string;

  @Text({ min: 1, max: 100, optional: true, doc: 'For sorting.' })
  category?: string;

  @OneOf(HITL_MODES, { named: HITL_MODE, meaning: MODES_MEAN, optional: true, doc: 'Mode of a grant that names none.' })
  defaultHitlMode?: HitlMode;

  @Integer({ min: 0, max: 100, optional: true, doc: 'From 0, harmless, to 100.' })
  riskScore?: number;

  @FreeObject({ clearable: true, optional: true, doc: SCHEMA })
  inputSchema?: JsonObject | null;

  @FreeObject({ clearable: true, optional: true, named: CONNECTOR, doc: DOES })
  connector?: JsonObject | null;
}

export class DefineCapabilityDto {
  @Text({
    min: 3, max: CAPABILITY_NAME_MAX, example: 'crm.update',
    doc: 'Lower-case words joined by `.` or `:`, exact and case-sensitive. None that reads like a hardcoded one.',
  })
  name!: string;

  @Text({ min: 1, max: 500, doc: 'What it does, in one sentence.' })
  description!: string;

  @Text({ min: 1, max: 100, optional: true, doc: 'For sorting. Default `custom`.' })
  category?: string;

  @OneOf(HITL_MODES, { named: HITL_MODE, meaning: MODES_MEAN, optional: true, doc: 'Mode of a grant that names none. Default `propose`.' })
  defaultHitlMode?: HitlMode;

  @Integer({ min: 0, max: 100, optional: true, doc: 'From 0, harmless, to 100. Default 50.' })
  riskScore?: number;

  @FreeObject({ optional: true, doc: SCHEMA })
  inputSchema?: JsonObject;

  @FreeObject({ optional: true, named: CONNECTOR, doc: DOES })
  connector?: JsonObject;
}
