import { Integer } from '../../../platform/http/fields/fields.js';

/** Of routes that vendors' clients call: parameters that are not known are the vendor's, and are left unread. */
export class VendorQuery {
  @Integer({ min: 0, max: 55, optional: true, doc: 'Seconds to hold the answer while people decide.' })
  wait?: number;
}
