/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Foreground masks of frames, on the CPU; device.h has the GPU's. The rules of labeller.h hold.
 *
 * A labeller compares pixels with a fixed threshold by itself. An object of this header makes a
 * foreground mask where that is not enough: with a threshold chosen for each frame, a model of the
 * background, a region of interest mask, or a filter that removes noise.
 *
 * CPU and GPU give identical masks for the same sequence of frames.
 *
 *   CclForegroundPlan plan = CUDACCL_FOREGROUND_PLAN_DEFAULT;
 *   CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
 *   plan.width = 1920;
 *   plan.height = 1080;
 *   plan.method = CUDACCL_FOREGROUND_CODEBOOK;
 *   CclForeground *foreground = ccl_cpu_foreground_new (&plan, &error);
 *   for each frame:
 *     ccl_foreground_run (foreground, &frame, &options, &mask, &error);
 *   and a labeller labels the mask, as a frame of its data and stride
 *   ccl_foreground_free (&foreground);
 *
 * Since: 0.2
 */
#ifndef CUDACCL_FOREGROUND_H
#define CUDACCL_FOREGROUND_H

#include <cudaccl/labeller.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CclForegroundMethod {
  CUDACCL_FOREGROUND_THRESHOLD = 0, /* pixels greater than CclForegroundOptions.threshold */
  CUDACCL_FOREGROUND_OTSU = 1,      /* pixels greater than the threshold that maximises the variance
                                     * between the classes of the frame's histogram. N. Otsu, "A
                                     * threshold selection method from gray-level histograms", IEEE
                                     * Transactions on Systems, Man, and Cybernetics 9, 1979 */
  CUDACCL_FOREGROUND_MOG2 = 2,     /* pixels that differ from a mixture of Gaussians learnt from the
                                    * frames before. Z. Zivkovic, "Improved adaptive Gaussian mixture
                                    * model for background subtraction", ICPR 2004 */
  CUDACCL_FOREGROUND_CODEBOOK = 3, /* pixels that differ from the colours that they have mostly had,
                                    * or had again and again, in the frames before. After K. Kim, T.
                                    * H. Chalidabhongse, D. Harwood and L. Davis, "Real-time
                                    * foreground-background segmentation using codebook model",
                                    * Real-Time Imaging 11(3), 2005. Since: 0.3 */
} CclForegroundMethod;

/* The name of a method: "threshold", "otsu", "mog2" or "codebook", as properties of elements and
 * Python have it. A static string; NULL for any other number. Thread safe. Since: 0.3 */
CUDACCL_API
const char *ccl_foreground_method_name (CclForegroundMethod method);

/* Whether a method learns a model of the background from frame to frame. Then it uses chroma, its
 * frames may be reduced (CclForegroundPlan.reduction), and the options for shadows, light and held
 * objects apply. false for a number that is no method. Thread safe. Since: 0.4 */
CUDACCL_API
bool ccl_foreground_method_has_model (CclForegroundMethod method);

/* Whether a method fills all fields of CclScene, and not only the change. false for a number that
 * is no method. Thread safe. Since: 0.4 */
CUDACCL_API
bool ccl_foreground_method_has_scene (CclForegroundMethod method);

/* The treatment of cast shadows: pixels that are darker than the background but of its colour. A.
 * Prati, I. Mikic, M. Trivedi and R. Cucchiara, "Detecting moving shadows: algorithms and
 * evaluation", IEEE TPAMI 25(7), 2003, compare methods. Without chroma, every pixel that is a
 * little darker than the background counts as a shadow. Luma of 16 bits is rounded to 8 for this.
 */
typedef enum CclShadows {
  CUDACCL_SHADOWS_KEEP = 0,   /* they are foreground */
  CUDACCL_SHADOWS_MARK = 1,   /* CUDACCL_MASK_SHADOW in the mask; a labeller with a threshold of
                               * CUDACCL_MASK_SHADOW leaves them out */
  CUDACCL_SHADOWS_REMOVE = 2, /* they are background */
} CclShadows;

/* The name of a treatment: "keep", "mark" or "remove". A static string; NULL for any other number.
 * Thread safe. Since: 0.3 */
CUDACCL_API
const char *ccl_shadows_name (CclShadows shadows);

/* A change of the picture that a change of light does not explain. */
typedef enum CclSceneChange {
  CUDACCL_SCENE_UNCHANGED = 0,
  CUDACCL_SCENE_MOVED = 1,     /* another picture: the camera was moved or switched */
  CUDACCL_SCENE_INFRARED = 2,  /* another picture that has lost or gained its colours */
  CUDACCL_SCENE_COVERED = 3,   /* most of the picture has become black */
  CUDACCL_SCENE_BLINDED = 4,   /* most of the picture has become white */
  CUDACCL_SCENE_UNCOVERED = 5, /* there is a picture again where there was none */
  CUDACCL_SCENE_SETTLED =
      6, /* after MOVED and INFRARED: the model is that of the picture, and masks
          * are no longer empty. CUDACCL_FOREGROUND_CODEBOOK alone. Since: 0.4 */
} CclSceneChange;

/* The name of a scene change: "unchanged", "moved", "infrared", "covered", "blinded", "uncovered"
 * or "settled", as messages of elements have it. A static string; NULL for any other number. Thread
 * safe. Since: 0.3 */
CUDACCL_API
const char *ccl_scene_change_name (CclSceneChange change);

/* Filters that remove noise from the mask, before the region of interest mask and the inversion.
 * Their windows are squares around the pixel.
 *
 * Where shadows are not kept, the median filters see three classes: a pixel is background if most
 * of its window is. Otherwise it is foreground if the window has at least 2 foreground pixels for 3
 * shadow pixels, and else shadow. So parts of objects that look like shadow stay with them.
 *
 * CUDACCL_FOREGROUND_CODEBOOK always has such a median filter of 5×5 pixels. The median filters
 * below change nothing there; openings are applied to its result. */
typedef enum CclDenoise {
  CUDACCL_DENOISE_NONE = 0,
  CUDACCL_DENOISE_MEDIAN_3 =
      1, /* median filter, 3×3 pixels; the frame's edge pixels are repeated */
  CUDACCL_DENOISE_MEDIAN_5 = 2, /* median filter, 5×5 pixels */
  CUDACCL_DENOISE_OPENING_3 =
      3, /* opening (erosion, then dilation), 3×3; pixels outside are ignored */
  CUDACCL_DENOISE_OPENING_5 = 4, /* opening, 5×5 */
} CclDenoise;

/* The name of a filter: "none", "median-3x3", "median-5x5", "opening-3x3" or "opening-5x5", as
 * options of programs and properties of elements have it. A static string; NULL for any other
 * number. Thread safe. Since: 0.3 */
CUDACCL_API
const char *ccl_denoise_name (CclDenoise denoise);

/* How many pixels in each direction the mask at a pixel depends on with a filter: 0 for none and
 * for any other number. A program that filters a picture band by band needs so many rows around a
 * band. Thread safe. Since: 0.3 */
CUDACCL_API
uint32_t ccl_denoise_reach (CclDenoise denoise);

/* The properties that are fixed when the object is made. */
typedef struct CclForegroundPlan {
  size_t size;     /* of this struct in bytes, or 0 (labeller.h) */
  uint32_t width;  /* pixels, ≥ 1 */
  uint32_t height; /* pixels, ≥ 1; width × height ≤ CUDACCL_MAX_PIXELS */
  CclForegroundMethod method;
  const CclFrame *roi_mask; /* a region of interest mask of the plan's size in host memory: pixels
                             * of value 0 are background in every foreground mask and do not count
                             * in Otsu's histogram. NULL: all pixels count. It is copied. */
  uint32_t n_threads; /* CPU: the most threads that share a frame; 0 means as many as are useful for
                       * the frame size, at most one per processor that the affinity mask and the
                       * quotas of control groups leave to the process. A GPU ignores it. */
  bool has_chroma;    /* the background model learns luma and chroma: each frame has CclFrame.chroma
                       * of the same subsampling. false: luma only; chroma is ignored */
  CclPixelFormat format; /* of the frames; 0 is one byte per pixel. A region of interest mask always
                          * has one byte per pixel */
  uint32_t reduction; /* the background model works on means of so many × so many pixels, and pixels
                       * of the mask are repeated as often: 1, 2, 4 or CUDACCL_MAX_REDUCTION. It
                       * takes less time and averages noise; objects need a size of some ten reduced
                       * pixels. CUDACCL_REDUCTION_AUTO: with the codebook, the least that leaves
                       * at most 250,000 pixels, so 4 for 1920×1080, 2 for 1280×720 and 768×576, and
                       * 1 for 480×272; with MOG2, 450,000, so 1 for 768×576. Other methods ignore
                       * it. Since: 0.3 */
} CclForegroundPlan;

#define CUDACCL_MAX_REDUCTION 8
#define CUDACCL_REDUCTION_AUTO 0

/* The defaults of CclForegroundPlan; width and height must be set. Since: 0.3 */
#define CUDACCL_FOREGROUND_PLAN_DEFAULT                                                            \
  {                                                                                                \
    .size = sizeof (CclForegroundPlan), .method = CUDACCL_FOREGROUND_THRESHOLD,                    \
    .reduction = CUDACCL_REDUCTION_AUTO                                                            \
  }

/* The largest window of a closing, in pixels. */
#define CUDACCL_MAX_CLOSING 63

/* Settings that may differ from frame to frame. Fields that the method does not need are ignored.
 */
typedef struct CclForegroundOptions {
  size_t size; /* sizeof (CclForegroundOptions), as CUDACCL_FOREGROUND_OPTIONS_DEFAULT sets it.
                * With 0, members since 0.4 are not read and have their defaults (labeller.h) */
  uint32_t threshold; /* for CUDACCL_FOREGROUND_THRESHOLD, as CclLabellerOptions.threshold */
  bool invert;        /* swap foreground and background inside the region of interest */
  CclDenoise denoise;

  /* Closing (dilation, then erosion) after the noise filter: a pixel is foreground if
   * every window of closing_width × closing_height pixels that contains it also contains
   * foreground. This fills gaps and holes that are narrower or lower than the window. Outside the
   * frame there is background. 0…CUDACCL_MAX_CLOSING; 0 and 1: none in this direction. */
  uint32_t closing_width, closing_height;

  /* For CUDACCL_FOREGROUND_MOG2 alone: the codebook needs no such settings. */
  uint32_t history;     /* frames, ≥ 1: the time constant of the model */
  float var_threshold;  /* > 0: a pixel is background up to this squared distance from a Gaussian's
                         * mean, in units of its variance, which is 4…75 on the scale of 8 bits. In
                         * CUDACCL_PIXEL_FORMAT_16, 256 steps of a value are one of that scale: with
                         * little noise, a pixel is background up to 512 × √var_threshold steps from
                         * the mean */
  double learning_rate; /* 0…1: the weight of a frame in the model; negative: 1 / history, and
                         * greater during the first history / 2 frames */
  uint32_t mixtures;    /* 1…5: Gaussians per pixel */

  /* For both background models. */
  CclShadows shadows;
  bool light;    /* compare frames with the model in the light of the frame, and look for changes of
                  * the scene (ccl_foreground_get_scene_change()) */
  uint32_t hold; /* 0…16: pixels that were foreground in the frame before, after the noise filter,
                  * learn this number of times slower, so that objects that stop remain foreground
                  * longer. 0 and 1: as fast as others */
  bool reduced_mask; /* the mask has one pixel for the reduction × reduction pixels of the frame
                      * that it stands for (ccl_foreground_get_reduction()), ⌈width / reduction⌉ ×
                      * ⌈height / reduction⌉ of them, instead of repeating it. Not with a region of
                      * interest mask, unless the reduction is 1. Since: 0.3 */

  /* For CUDACCL_FOREGROUND_CODEBOOK. */
  uint64_t frame_duration; /* nanoseconds of the scene from the frame before to this one: what the
                            * model learns and forgets counts in seconds. 0: not known, taken for
                            * CUDACCL_FRAME_DURATION. Since: 0.4 */
  uint64_t warm_up;      /* nanoseconds of the scene from the first frame of a model on in which its
                          * masks are empty; 0: that of the first frame alone. Since: 0.4 */
  uint64_t absorb_after; /* nanoseconds of the scene after which an object that has stopped is
                          * background, whatever the frame rate and however long the scene was still
                          * before: after half of it at the earliest, if the model is some seconds
                          * old. Where a part of it moves, it stays. At most
                          * CUDACCL_MAX_ABSORB_AFTER. 0: six seconds, `hold` times. Since: 0.4 */
  uint32_t sensitivity;  /* percent, CUDACCL_MIN_SENSITIVITY…CUDACCL_MAX_SENSITIVITY: 200 finds
                          * objects that differ half as much from the background as those which 100
                          * finds, though not in the noise of the camera, 50 only those that differ
                          * twice as much. 0: 100. Since: 0.4 */
} CclForegroundOptions;

/* The range of CclForegroundOptions.sensitivity. Since: 0.4 */
#define CUDACCL_MIN_SENSITIVITY 50
#define CUDACCL_MAX_SENSITIVITY 200

/* The most that CclForegroundOptions.absorb_after can be, in nanoseconds: a day. Since: 0.4 */
#define CUDACCL_MAX_ABSORB_AFTER UINT64_C (86400000000000)

/* The duration of a frame that is not known, in nanoseconds: 25 frames per second. Since: 0.4 */
#define CUDACCL_FRAME_DURATION UINT64_C (40000000)

/* The defaults of CclForegroundOptions. Since: 0.3 */
#define CUDACCL_FOREGROUND_OPTIONS_DEFAULT                                                         \
  {                                                                                                \
    .size = sizeof (CclForegroundOptions), .closing_width = 1, .closing_height = 1,                \
    .history = 500, .var_threshold = 9, .learning_rate = -1, .mixtures = 5,                        \
    .shadows = CUDACCL_SHADOWS_REMOVE, .light = true, .hold = 4, .sensitivity = 100                \
  }

/* The values of a foreground mask. */
#define CUDACCL_MASK_BACKGROUND 0
#define CUDACCL_MASK_SHADOW 127
#define CUDACCL_MASK_FOREGROUND 255

/* The memory for a foreground mask: one byte per pixel, with one of the values above. It
 * belongs to the caller; bytes of a row beyond width are not written. Device memory on a GPU, host
 * memory on a CPU. */
typedef struct CclMask {
  void *data;
  size_t stride; /* bytes, at least the pixels of a row; any alignment */
} CclMask;

/* Otsu's threshold of a histogram, which CUDACCL_FOREGROUND_OTSU uses, too: pixels that are greater
 * are foreground. For programs that count the values themselves, for instance those of a picture in
 * tiles.
 *
 * histogram: the number of pixels of each value, n_values of them, less than 2⁵³ together.
 * n_values: 1 or more; 256 for frames of 8 bits.
 *
 * Returns 0…n_values − 1: the lowest of the thresholds that separate best; n_values − 1 without
 * pixels, or if all have one value. Thread safe. Since: 0.3 */
CUDACCL_API
uint32_t ccl_otsu_threshold (const uint64_t *histogram, uint32_t n_values);

/* An opaque foreground segmenter, with its model of the background. Since: 0.2 */
typedef struct CclForeground CclForeground;

/* Makes an object that runs on the CPU. Free it with ccl_foreground_free().
 *
 * Frames and masks are host memory. CUDACCL_FOREGROUND_MOG2 uses up to 30 bytes per pixel of the
 * model (CclForegroundPlan.reduction), 40 with chroma, CUDACCL_FOREGROUND_CODEBOOK up to 117, as
 * far as pixels need them.
 *
 * The environment variable CCL_CPU_INSTRUCTIONS ("portable", "avx2", "avx512" or "neon") overrides
 * the choice of instruction set.
 *
 * Returns the object, or NULL with the error filled: CUDACCL_ERROR_ARGUMENT,
 * CUDACCL_ERROR_UNSUPPORTED (the processor lacks the requested instructions),
 * CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.2 */
CUDACCL_API
CclForeground *ccl_cpu_foreground_new (const CclForegroundPlan *plan, CclError *error);

/* Makes the foreground mask of one frame and waits for it.
 *
 * The first frame of a background model has an empty mask, and so have frames of a changed scene.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (nothing was read or written) or CUDACCL_ERROR_DEVICE.
 * Since: 0.2; before 0.3 it did not wait on a GPU */
CUDACCL_API
CclStatus ccl_foreground_run (CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error);

/* Starts to make a mask as ccl_foreground_run() does. On a GPU the work is only queued on the
 * object's stream (ccl_cuda_foreground_set_stream()): frame and mask must live until it has
 * finished. ccl_foreground_wait() waits for it, and so does the run of a labeller on the same
 * stream. Any number of frames may be queued before a wait. On a CPU the mask is made at once.
 *
 * Returns as ccl_foreground_run(). Since: 0.3 */
CUDACCL_API
CclStatus ccl_foreground_queue (CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error);

/* So many × so many pixels of a frame are one pixel of the background model: the plan's reduction,
 * or what CUDACCL_REDUCTION_AUTO has chosen; 1 for methods without a model, and for NULL.
 * Thread safe. Since: 0.3 */
CUDACCL_API
uint32_t ccl_foreground_get_reduction (const CclForeground *foreground);

/* The scene change that the last run found. Then CUDACCL_FOREGROUND_MOG2 has discarded its model,
 * and that frame is the first one of a new model. CUDACCL_FOREGROUND_CODEBOOK takes the colours of
 * that frame for the background, and keeps the former ones with little weight. Always
 * CUDACCL_SCENE_UNCHANGED unless options.light was set, and in the first 16 frames of MOG2's model.
 * On a GPU, wait for a queued frame first. Since: 0.2 */
CUDACCL_API
CclSceneChange ccl_foreground_get_scene_change (const CclForeground *foreground);

/* What the last run has found of the whole picture. Since: 0.4 */
typedef struct CclScene {
  size_t size;           /* of this struct in bytes, set by the caller */
  CclSceneChange change; /* as ccl_foreground_get_scene_change() */
  /* With CUDACCL_SCENE_MOVED: whether the new picture has the content of the former one at another
   * place, and how far to the right and down, in pixels of the frame, to about one pixel of the
   * model (CclForegroundPlan.reduction). Unknown after a zoom, and where the pictures have too
   * little in common. */
  bool has_displacement;
  int32_t dx, dy;
  bool is_hidden; /* the mask is empty because the camera moves, or the model is too young */
  /* Pixels of the model: of the mask before openings and closings, and those of them that have
   * changed since the frame before by more than noise. An object that stands has few. */
  uint32_t n_foreground, n_changed;
} CclScene;

/* Gets what the last run of CUDACCL_FOREGROUND_CODEBOOK has found of the picture. With other
 * methods, all but the change is 0. On a GPU, wait for a queued frame first.
 *
 * Returns CUDACCL_OK, or CUDACCL_ERROR_ARGUMENT (a pointer is NULL, or size is not that of the
 * struct). Since: 0.4 */
CUDACCL_API
CclStatus ccl_foreground_get_scene (
    const CclForeground *foreground, CclScene *scene, CclError *error);

/* Waits until the masks of all queued frames can be read. Returns CUDACCL_OK,
 * CUDACCL_ERROR_ARGUMENT (the object is NULL) or CUDACCL_ERROR_DEVICE. Since: 0.2 */
CUDACCL_API
CclStatus ccl_foreground_wait (CclForeground *foreground, CclError *error);

/* Replaces the region of interest mask of the plan from the next frame on; the model of the
 * background stays. Waits for queued frames. roi_mask: as CclForegroundPlan.roi_mask; NULL: all
 * pixels count. It is copied.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (the present mask stays), CUDACCL_ERROR_NO_MEMORY or
 * CUDACCL_ERROR_DEVICE. Since: 0.4 */
CUDACCL_API
CclStatus ccl_foreground_set_roi_mask (
    CclForeground *foreground, const CclFrame *roi_mask, CclError *error);

/* Discards the model of the background; the next frame starts a new one. NULL is allowed.
 * Since: 0.2 */
CUDACCL_API
void ccl_foreground_reset (CclForeground *foreground);

/* Waits, frees an object of any backend with all its memory, and sets the handle to NULL.
 * Since: 0.2 */
CUDACCL_API
void ccl_foreground_free (CclForeground **foreground);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_FOREGROUND_H */
